// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import java.util.Objects;

/// A store could not read or write. What was asked for is not done; what the store held before it
/// holds still.
public final class RowStoreException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /// @param message what failed, where, and the reason
  public RowStoreException(String message) {
    super(message);
    Objects.requireNonNull(message, "message");
  }

  /// @param message what failed, where, and the reason
  /// @param cause what the store has thrown
  public RowStoreException(String message, Throwable cause) {
    super(message, cause);
    Objects.requireNonNull(message, "message");
    Objects.requireNonNull(cause, "cause");
  }
}
