// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

/// A FIFO queue of reused operations that grows up to a bound. An operation keeps its position
/// while it is queued.
final class OpQueue {

  private final int max;
  private ShmOperation[] ops = {};
  private long head;
  private long tail;

  /// Creates a queue of at most `max` operations, a power of two.
  OpQueue(int max) {
    this.max = max;
  }

  boolean isEmpty() {
    return head == tail;
  }

  boolean isFull() {
    return tail - head == max;
  }

  long head() {
    return head;
  }

  long tail() {
    return tail;
  }

  /// Returns the operation at a position between `head` and `tail`.
  ShmOperation at(long position) {
    return ops[(int) (position & (ops.length - 1))];
  }

  /// Appends an operation; the queue must not be full.
  ShmOperation add() {
    if (tail - head == ops.length) {
      grow();
    }
    return at(tail++);
  }

  void withdraw() {
    tail--;
    at(tail).clear();
  }

  void pop() {
    head++;
  }

  private void grow() {
    ShmOperation[] more = new ShmOperation[Math.max(16, 2 * ops.length)];
    for (int i = 0; i < ops.length; i++) {
      more[(int) ((head + i) & (more.length - 1))] = at(head + i);
    }
    for (int i = 0; i < more.length; i++) {
      if (more[i] == null) {
        more[i] = new ShmOperation();
      }
    }
    ops = more;
  }
}
