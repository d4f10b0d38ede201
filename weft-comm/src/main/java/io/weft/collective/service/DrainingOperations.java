// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import java.util.ArrayList;
import java.util.List;

/// Operations that have failed while the transport may still read their memory: their handles
/// complete when it does not. Confined to the progress thread.
final class DrainingOperations {

  /// How long a failed operation waits for a lost rank to leave its memory. One that is alive
  /// leaves it within a millisecond; one that has died is not inside; one that is stopped may
  /// never.
  private static final long LEAVE_NANOS = 5_000_000_000L;

  /// How often, when the progress thread ends, it is looked whether all have left: for about a
  /// second.
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

  /// Completes those that nothing reads any more, and cuts off ranks to which nothing moves;
  /// returns how many completed.
  int work(long nowNanos) {
    int before = operations.size();
    settle();
    // A copy: with the dropped rank, other operations may fail.
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

  /// The progress thread ends: nothing may be read any more.
  void end() {
    for (Operation<?> stuck : List.copyOf(operations)) {
      stuck.usedBy().forEach(m -> collectives.mesh().endpoint(stuck.group().world(m)).close());
    }
    settle();
    // A peer that is inside our memory leaves it by itself, unless it is stopped.
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
      collectives.mesh().endpoint(rank).close(); // it has left and does not end the connection
    } else if (collectives.mesh().isStuck(rank)) {
      collectives
          .mesh()
          .drop(rank, "nothing moved on it while an operation that had failed waited to end");
    }
  }
}
