// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import java.util.ArrayList;
import java.util.List;

/// Operations that have failed while the transport may still read their memory. Their handles
/// complete when it no longer does. Confined to the progress thread.
final class DrainingOperations {

  /// The time that a failed operation waits for a lost rank to leave its memory. A living rank
  /// leaves it within a millisecond, a dead rank is not inside, and a stopped rank may never leave.
  private static final long LEAVE_NANOS = 5_000_000_000L;

  /// The number of checks, for about a second, at the end of the progress thread.
  private static final int MAX_TRIES = 1_000_000;

  private final Collectives collectives;
  private final List<Operation<?>> operations = new ArrayList<>();

  DrainingOperations(Collectives collectives) {
    this.collectives = collectives;
  }

  void add(Operation<?> failed) {
    operations.add(failed);
  }

  int size() {
    return operations.size();
  }

  /// Completes the operations whose memory is no longer read, and cuts off stuck ranks. Returns the
  /// number of completed operations.
  int work(long nowNanos) {
    int before = operations.size();
    settle();
    // Iterates over a copy, because dropping a rank may fail other operations.
    for (Operation<?> stuck : List.copyOf(operations)) {
      if (nowNanos - stuck.failedNanos() > OperationDeadlines.SETTLE_NANOS) {
        stuck.usedBy().forEach(m -> cutIfStuck(stuck.group().world(m)));
      }
    }
    operations.removeIf(o -> nowNanos - o.failedNanos() > LEAVE_NANOS && endWithoutTheLost(o));
    return before - operations.size();
  }

  void settle() {
    operations.removeIf(Operation::settle);
  }

  /// Closes the endpoints that are still in use, because nothing may be read after the progress
  /// thread ends.
  void end() {
    for (Operation<?> stuck : List.copyOf(operations)) {
      stuck.usedBy().forEach(m -> collectives.mesh().endpoint(stuck.group().world(m)).close());
    }
    settle();
    // A peer leaves this rank's memory by itself, unless it is stopped.
    for (int tries = 0; !operations.isEmpty() && tries < MAX_TRIES; tries++) {
      Thread.yield();
      settle();
    }
    operations.removeIf(Operation::settleWithoutTheLost);
  }

  private boolean endWithoutTheLost(Operation<?> stuck) {
    return stuck.usedBy().stream().anyMatch(m -> isGone(stuck, m)) && stuck.settleWithoutTheLost();
  }

  private boolean isGone(Operation<?> stuck, int member) {
    return collectives.mesh().isGone(stuck.group().world(member));
  }

  private void cutIfStuck(int rank) {
    if (collectives.mesh().isGone(rank)) {
      collectives.mesh().endpoint(rank).close(); // it has left without ending the connection
    } else if (collectives.mesh().isStuck(rank)) {
      collectives
          .mesh()
          .drop(rank, "its connection made no progress while a failed operation waited to end");
    }
  }
}
