// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import java.util.concurrent.atomic.AtomicBoolean;

/// A name on one communicator, which one operation in flight has at most. Any thread.
final class OperationName {

  private final String text;
  private final long key;
  private final AtomicBoolean taken = new AtomicBoolean();

  OperationName(String text, long key) {
    this.text = text;
    this.key = key;
  }

  /// Makes it an operation's; false if one in flight has it.
  ///
  /// Hot path.
  boolean tryTake() {
    return !taken.getAcquire() && taken.compareAndSet(false, true);
  }

  /// Its operation is over.
  ///
  /// Hot path.
  void giveBack() {
    taken.setRelease(false);
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
