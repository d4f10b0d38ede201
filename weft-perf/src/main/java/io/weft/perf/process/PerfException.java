// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.Serial;

/// Why a measurement ended without its figures.
public abstract sealed class PerfException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private PerfException(String message) {
    super(message);
  }

  private PerfException(String message, Throwable cause) {
    super(message, cause);
  }

  /// It ran and failed: exit code 1.
  public static final class Failed extends PerfException {
    @Serial private static final long serialVersionUID = 1L;

    /// With a message that holds the words of what failed.
    public Failed(String message) {
      super(message);
    }

    /// The same with its cause.
    public Failed(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /// Something that it needs is not on this machine; the message says what and how to get it: exit
  /// code 3.
  public static final class Missing extends PerfException {
    @Serial private static final long serialVersionUID = 1L;

    /// With what is missing and the remedy.
    public Missing(String message) {
      super(message);
    }
  }
}
