// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.Serial;

/// The reason why a measurement ended without figures.
public abstract sealed class PerfException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private PerfException(String message) {
    super(message);
  }

  private PerfException(String message, Throwable cause) {
    super(message, cause);
  }

  /// The measurement failed while it ran. The exit code is 1.
  public static final class Failed extends PerfException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates a failure whose message includes the failed program's output.
    public Failed(String message) {
      super(message);
    }

    /// Creates a failure with its cause.
    public Failed(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /// This machine lacks a requirement of the measurement. The message names the requirement and the
  /// remedy. The exit code is 3.
  public static final class Missing extends PerfException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates an exception whose message names the missing part and the remedy.
    public Missing(String message) {
      super(message);
    }
  }
}
