// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import java.util.function.IntUnaryOperator;

/// The receives that are to be posted again to a shared receive queue, which are posted in batches.
/// Confined to one thread.
final class ReceiveRefill {

  private final int capacity;
  private final int batch;
  private final IntUnaryOperator post;
  private int missing;

  /// @param capacity the number of receives in the full queue
  /// @param batch number of receives that are posted at a time
  /// @param post posts up to that many receives, at most a batch; returns how many the queue has
  ///   accepted, fewer only if it is full
  ReceiveRefill(int capacity, int batch, IntUnaryOperator post) {
    this.capacity = capacity;
    this.batch = batch;
    this.post = post;
  }

  /// Counts receives that have completed, and posts as many as make whole batches.
  ///
  /// Hot path.
  void consumed(int receives) {
    missing += receives;
    while (missing >= batch) {
      // A full queue needs no more, because `fill` has posted them.
      missing = post.applyAsInt(batch) < batch ? 0 : missing - batch;
    }
  }

  /// Posts receives until the queue is full; returns how many it has accepted, at most its
  /// capacity.
  int fill() {
    int posted = 0;
    missing = 0;
    while (posted < capacity) {
      int wanted = Math.min(batch, capacity - posted);
      int accepted = post.applyAsInt(wanted);
      posted += accepted;
      if (accepted < wanted) {
        break;
      }
    }
    return posted;
  }
}
