// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import io.weft.cluster.MeshService.PeerGone;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/// How one rank's failure reaches all: operations that cannot end any more fail at once, and the
/// other members are told why. Confined to the lane's thread.
final class Failures {

  private final Collectives collectives;

  Failures(Collectives collectives) {
    this.collectives = collectives;
  }

  /// Fails an operation whose new stage waits for a member that has gone.
  void failIfDeserted(Operation<?> operation) {
    for (int member : operation.waitingFor()) {
      if (collectives.mesh().isGone(operation.group().world(member))) {
        collectives.fail(operation, Verdicts.left(operation, member, collectives.now()));
        return;
      }
    }
  }

  /// Fails all operations of a communicator, now and in future, here and at its other members.
  void abort(Group group, CommException cause, int culprit) {
    if (abortHere(group, cause)) {
      tell(group, cause, culprit);
    }
  }

  /// The same here only. Returns whether this was the communicator's first failure.
  boolean abortHere(Group group, CommException cause) {
    if (!group.failWith(cause)) {
      return false;
    }
    collectives.observer().onAborted(group.key(), cause, collectives.now());
    for (Operation<?> operation : runningOf(group)) {
      collectives.fail(operation, cause);
    }
    return true;
  }

  /// A rank has gone. If it was lost, its communicators are aborted; if it left in order, only the
  /// operations that still wait for it fail, and those that will be submitted.
  void onMemberGone(Group group, int rank, PeerGone how, TransportException cause) {
    int member = group.member(rank);
    if (member < 0) {
      return;
    }
    long now = collectives.now();
    if (how == PeerGone.LOST) {
      abort(group, Verdicts.lost(group, member, runningOf(group), now, cause), rank);
      return;
    }
    for (Operation<?> operation : runningOf(group)) {
      if (operation.waitingFor().contains(member)) {
        collectives.fail(operation, Verdicts.left(operation, member, now));
      }
    }
    var unused = group.failWith(Verdicts.gone(group, member, "left the job"));
  }

  private List<Operation<?>> runningOf(Group group) {
    return collectives.runningInOrder().stream().filter(o -> o.group() == group).toList();
  }

  private void tell(Group group, CommException cause, int culprit) {
    Wires wires = collectives.wires();
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank() && !collectives.mesh().isGone(group.world(m))) {
        MemorySegment frame = wires.scratch();
        Frame.header(frame, Frame.Type.ABORT, group.key(), 0, 0, 0, 0, culprit);
        String text = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
        wires.outbox().send(group.world(m), Frame.text(frame, text));
      }
    }
  }
}
