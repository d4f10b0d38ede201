// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.cluster.item.Submission;

/// A submission of a user of the channel to the progress thread.
abstract sealed class ChannelSubmission extends Submission<MeshChannel> {

  /// A request of this rank. If `enter` throws, only this request fails.
  static final class Asking extends ChannelSubmission {
    private final OutboundRequest asked;

    Asking(OutboundRequest asked) {
      this.asked = asked;
    }

    @Override
    protected void enter(MeshChannel channel) {
      channel.enter(asked);
    }

    @Override
    protected void broken(MeshChannel channel, Throwable thrown) {
      asked.fail(channel.messages().notRegistered(asked, thrown));
    }
  }

  /// Any other submission.
  static final class Command extends ChannelSubmission {
    private final Runnable command;

    Command(Runnable command) {
      this.command = command;
    }

    @Override
    protected void enter(MeshChannel channel) {
      command.run();
    }
  }
}
