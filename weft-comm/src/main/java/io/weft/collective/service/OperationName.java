// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import java.util.concurrent.atomic.AtomicInteger;

/// A name on one communicator, which one operation in flight has at most. Any thread.
final class OperationName {

  private static final int FREE = 0;
  private static final int TAKEN = 1;
  private static final int FORGOTTEN = 2;

  private final String text;
  private final long key;
  private final AtomicInteger state = new AtomicInteger(FREE);

  OperationName(String text, long key) {
    this.text = text;
    this.key = key;
  }

  /// Makes it an operation's; false if one in flight has it, or it is forgotten.
  ///
  /// Hot path.
  boolean tryTake() {
    return state.getAcquire() == FREE && state.compareAndSet(FREE, TAKEN);
  }

  /// Its operation is over.
  ///
  /// Hot path.
  void giveBack() {
    state.setRelease(FREE);
  }

  /// Takes it for good, so that another object may stand for this name; false if an operation has
  /// it.
  boolean tryForget() {
    return state.compareAndSet(FREE, FORGOTTEN);
  }

  /// Whether another object stands for this name.
  boolean isForgotten() {
    return state.getAcquire() == FORGOTTEN;
  }

  /// By which members match operations: of communicator and name, the same on all.
  long key() {
    return key;
  }

  /// As the user gave it.
  @Override
  public String toString() {
    return text;
  }
}
