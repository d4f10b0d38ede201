// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionChannel;
import io.weft.verbs.device.CompletionQueue;
import io.weft.verbs.device.Completions;
import io.weft.verbs.ffm.Descriptors;

/// Polls the completion queues on the transport's polling thread, and waits on their channel.
final class PollingCaller implements Polling {

  private final CompletionChannel channel;
  private final CompletionQueue sendQueue;
  private final CompletionQueue receiveQueue;
  private final Descriptors descriptors;

  PollingCaller(CompletionChannel channel, CompletionQueue sends, CompletionQueue receives) {
    this.channel = channel;
    sendQueue = sends;
    receiveQueue = receives;
    descriptors = new Descriptors(channel.descriptor());
  }

  @Override
  public Completions sends() {
    return sendQueue;
  }

  @Override
  public Completions receives() {
    return receiveQueue;
  }

  @Override
  public void prepare() {
    sendQueue.arm();
    receiveQueue.arm();
  }

  @Override
  public void await(long maxNanos) {
    descriptors.await(maxNanos);
  }

  @Override
  public void resume() {
    int unused = channel.drain();
  }

  @Override
  public void wake() {
    descriptors.ring();
  }

  @Override
  public void close() {
    descriptors.close();
  }
}
