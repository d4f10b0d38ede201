// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import org.jspecify.annotations.Nullable;

/// A reusable, caller-owned countdown: fires once when `count` posted operations are done, with the
/// first error if there was any. Confined to the polling thread; the callbacks must not block.
public abstract class Completion {

  private int remaining;
  private @Nullable TransportException first;

  /// For subclasses.
  protected Completion() {}

  /// Makes ready for `count` operations. Throws `IllegalStateException` while earlier ones are out.
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

  /// One operation is done. For transports.
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

  /// All operations succeeded.
  protected abstract void onSuccess();

  /// At least one operation failed; `first` is the first failure.
  protected abstract void onFailure(TransportException first);
}
