// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.CommException;
import io.weft.cluster.Mesh;
import io.weft.collective.frame.Frame;
import io.weft.collective.group.Group;
import java.util.List;

/// Ends operations whose hard deadline has passed. A little before, it asks all members whether
/// they have submitted the operation, so that the error names who was silent. Confined to the
/// lane's thread.
final class Deadlines {

  /// How long a failed operation may wait for its writes to leave before the stuck endpoints are
  /// closed.
  static final long SETTLE_NANOS = 1_000_000_000L;

  private static final long CHECK_NANOS = 5_000_000L;

  private final Collectives collectives;
  private long lastCheck;
  private boolean started;

  Deadlines(Collectives collectives) {
    this.collectives = collectives;
  }

  void check(long now) {
    long since = now - lastCheck;
    if (started && since >= 0 && since < CHECK_NANOS) {
      return;
    }
    // What this rank did not hear meanwhile, it must not blame others for; nor for connections
    // that broke because they have perhaps given it up.
    Mesh mesh = collectives.mesh();
    boolean stalled = started && (mesh.attention().stoodStillSince(lastCheck) || mesh.isPuzzled());
    started = true;
    lastCheck = now;
    collectives.observer().onTurn(now);
    for (Operation<?> operation : List.copyOf(collectives.underway().inOrder())) {
      if (!operation.failed()) {
        check(operation, now, stalled);
      }
    }
  }

  private void check(Operation<?> operation, long now, boolean stalled) {
    long untilDeadline = operation.deadlineNanos() - now;
    if (untilDeadline > operation.graceNanos()) {
      return;
    }
    if (!operation.probed()) {
      operation.markProbed();
      probe(operation);
      operation.putOffVerdict(now + operation.graceNanos());
    } else if (stalled) {
      operation.putOffVerdict(now + operation.graceNanos());
    } else if (now - operation.verdictNanos() >= 0) {
      CommException overdue = Verdicts.overdue(operation, collectives);
      List<Integer> silent = operation.silent();
      int culprit = silent.isEmpty() ? -1 : operation.group().world(silent.getFirst());
      collectives.failures().abort(operation.group(), overdue, culprit);
    }
  }

  private void probe(Operation<?> operation) {
    Group group = operation.group();
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank()) {
        collectives.wires().send(operation, m, Frame.Type.PROBE, 0, 0, Frame.HEADER_BYTES);
      }
    }
  }
}
