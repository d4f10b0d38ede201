// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import java.util.concurrent.atomic.AtomicInteger;

/// A name on one communicator. At most one operation in flight has it. Any thread.
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

  /// Takes the name for an operation. Returns false if an operation in flight has it, or if it is
  /// forgotten.
  ///
  /// Hot path.
  boolean tryTake() {
    return state.getAcquire() == FREE && state.compareAndSet(FREE, TAKEN);
  }

  /// Gives the name back after its operation has ended.
  ///
  /// Hot path.
  void giveBack() {
    state.setRelease(FREE);
  }

  /// Forgets the name permanently, so that another object may represent it. Returns false if an
  /// operation has it.
  boolean tryForget() {
    return state.compareAndSet(FREE, FORGOTTEN);
  }

  /// Returns whether another object represents this name.
  boolean isForgotten() {
    return state.getAcquire() == FORGOTTEN;
  }

  /// Returns the key by which members match operations: a hash of communicator and name, equal on
  /// all members.
  long key() {
    return key;
  }

  @Override
  public String toString() {
    return text;
  }
}
