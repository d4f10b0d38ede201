// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.item.Submission;
import io.weft.comm.CommException;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.route.Route;
import org.jspecify.annotations.Nullable;

/// One of the two sides of a tensor, while they have not met or are in progress. It is itself a
/// link of its step and of the table, so that storing it allocates nothing. Confined to the
/// progress thread once it has entered.
abstract sealed class PendingSide extends Submission<MeshRendezvous>
    permits ParkedRequest, PendingTransfer {

  final Route route;
  final long frame;
  final long iteration;

  /// The step; null before the side has entered and after it has left.
  @Nullable OpenStep step;

  @Nullable PendingSide before;
  @Nullable PendingSide after;

  /// The next side in the same bucket of the table.
  @Nullable PendingSide chain;

  PendingSide(Route route, RendezvousKey key) {
    this.route = route;
    this.frame = key.frame();
    this.iteration = key.iteration();
  }

  @Override
  protected final void broken(MeshRendezvous rendezvous, Throwable thrown) {
    rendezvous.termination().end(this, rendezvous.words().broken(edge(), thrown));
  }

  final Edge edge() {
    return route.edge();
  }

  /// Fails this side, which has left its step and the table.
  abstract void fail(CommException cause);

  /// Returns whether this side fails with the loss of this rank.
  abstract boolean dependsOn(int rank);

  final boolean isSame(Route otherRoute, OpenStep otherStep, long otherFrame, long otherIteration) {
    return route == otherRoute
        && step == otherStep
        && frame == otherFrame
        && iteration == otherIteration;
  }
}
