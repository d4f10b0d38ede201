// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.cluster.Mesh;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.comm.CommException;
import java.util.List;
import java.util.stream.IntStream;

/// Ends operations whose hard deadline has passed. Shortly before, it asks all members whether they
/// have submitted the operation, so that the error names the silent ranks. Much earlier, a rank
/// that has waited for a moment announces its submission to the peers for which it waits. Otherwise
/// two ranks that wait for each other, neither of which sends, would not learn that they disagree.
/// Confined to the progress thread.
final class OperationDeadlines {

  /// The time that a failed operation may wait for its writes before the stuck endpoints are
  /// closed.
  static final long SETTLE_NANOS = 1_000_000_000L;

  private static final long CHECK_NANOS = 5_000_000L;

  private final Collectives collectives;
  private long lastCheck;
  private boolean started;

  OperationDeadlines(Collectives collectives) {
    this.collectives = collectives;
  }

  void check(long now) {
    long since = now - lastCheck;
    if (started && since >= 0 && since < CHECK_NANOS) {
      return;
    }
    // A rank that stood still must not blame others for messages it has not received, nor blame
    // them while the cause of broken connections is unclear, because peers may have given this rank
    // up.
    Mesh mesh = collectives.mesh();
    boolean stalled = started && (mesh.attention().stoodStillSince(lastCheck) || mesh.isPuzzled());
    started = true;
    lastCheck = now;
    collectives.events().onDutyCycle(now);
    for (Operation<?> operation : List.copyOf(collectives.activeOperations().inOrder())) {
      if (!operation.failed()) {
        check(operation, now, stalled);
      }
    }
    for (Operation<?> operation : List.copyOf(collectives.held())) {
      if (now - operation.deadlineNanos() >= 0) {
        collectives
            .failures()
            .abort(operation.group(), FailureMessages.overdue(operation, collectives), -1);
      }
    }
  }

  private void check(Operation<?> operation, long now, boolean stalled) {
    if (!operation.announced() && now - operation.submittedNanos() > operation.quietNanos()) {
      operation.markAnnounced();
      tell(operation, CollectiveFrame.Type.ENTERED, operation.stageIndex(), operation.waitingFor());
    }
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
      CommException overdue = FailureMessages.overdue(operation, collectives);
      collectives.failures().abort(operation.group(), overdue, operation.culprit());
    }
  }

  private void probe(Operation<?> operation) {
    Group group = operation.group();
    List<Integer> others =
        IntStream.range(0, group.size()).filter(m -> m != group.rank()).boxed().toList();
    tell(operation, CollectiveFrame.Type.PROBE, 0, others);
  }

  private void tell(
      Operation<?> operation, CollectiveFrame.Type type, int stageIndex, List<Integer> members) {
    for (int member : members) {
      collectives
          .context()
          .send(operation, member, type, stageIndex, 0, CollectiveFrame.HEADER_BYTES);
    }
  }
}
