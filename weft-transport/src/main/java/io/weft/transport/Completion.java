// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import org.jspecify.annotations.Nullable;

/// A reusable, caller-owned countdown, which fires once when `count` posted operations have
/// completed, with the first error if any failed. Confined to the polling thread; the callbacks
/// must not block.
public abstract class Completion {

  private int remaining;
  private @Nullable TransportException first;

  /// Creates a completion that is not armed.
  protected Completion() {}

  /// Arms it for `count` operations. Throws `IllegalStateException` while earlier operations are
  /// pending.
  public final void arm(int count) {
    if (remaining != 0) {
      throw new IllegalStateException(
          remaining + " operations of this completion are still posted");
    }
    if (count <= 0) {
      throw new IllegalArgumentException("count " + count + " is not positive");
    }
    remaining = count;
    first = null;
  }

  /// Counts a completed operation. Only transports call it.
  ///
  /// Hot path.
  public final void complete(@Nullable TransportException error) {
    if (error != null && first == null) {
      first = error;
    }
    if (--remaining == 0) {
      TransportException failure = first;
      if (failure == null) {
        onSuccess();
      } else {
        onFailure(failure);
      }
    }
  }

  /// Called when all operations have succeeded.
  protected abstract void onSuccess();

  /// Called when all operations have completed and at least one failed; `first` is the first
  /// failure.
  protected abstract void onFailure(TransportException first);
}
