// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.Tuning;

/// The tuning with which a communicator's operations are submitted, version by version. A change
/// applies from its call on, and is reverted if not all ranks make it. Any thread.
final class TuningVersions {

  private volatile Signatures current;

  TuningVersions(Tuning first) {
    this.current = new Signatures(first, 0);
  }

  /// Hot path.
  Signatures current() {
    return current;
  }

  synchronized <T> Change<T> change(Tuning next) {
    Signatures before = current;
    current = new Signatures(next, before.version() + 1);
    return new Change<>(before);
  }

  private synchronized void restore(Signatures before) {
    if (current.version() == before.version() + 1) {
      current = before;
    }
  }

  /// A change of the tuning. `end` reverts it unless all ranks have made it.
  final class Change<T> implements PendingHandle.CopyOut<T> {

    private final Signatures before;
    private boolean agreed;

    private Change(Signatures before) {
      this.before = before;
    }

    Signatures before() {
      return before;
    }

    @Override
    public T result(T brought) {
      agreed = true;
      return brought;
    }

    @Override
    public void end() {
      if (!agreed) {
        restore(before);
      }
    }
  }
}
