// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import java.util.Objects;

/// A failure of a store to read or write. The operation has had no effect, and the content of the
/// store is unchanged.
public final class RowStoreException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /// @param message the operation that failed, the place, and the reason
  public RowStoreException(String message) {
    super(message);
    Objects.requireNonNull(message, "message");
  }

  /// @param message the operation that failed, the place, and the reason
  /// @param cause the exception of the store
  public RowStoreException(String message, Throwable cause) {
    super(message, cause);
    Objects.requireNonNull(message, "message");
    Objects.requireNonNull(cause, "cause");
  }
}
