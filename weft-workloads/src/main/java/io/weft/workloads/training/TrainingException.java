// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.comm.CommException;
import java.io.Serial;

/// A training run that cannot begin or continue.
public abstract sealed class TrainingException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  TrainingException(String message) {
    super(message);
  }

  /// The settings do not fit the data or the ranks. No step was taken.
  public static final class Unfit extends TrainingException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception with the option, its value and the allowed values.
    public Unfit(String message) {
      super(message);
    }
  }

  /// The library that computes the network is missing here. No step was taken.
  public static final class NoEngine extends TrainingException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception with the library and its requirements.
    public NoEngine(String message, Throwable cause) {
      super(message);
      initCause(cause);
    }
  }

  /// The loss is not finite, or the ranks' weights differ. Earlier checkpoints are kept.
  public static final class Diverged extends TrainingException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception with the step and the remedy.
    public Diverged(String message) {
      super(message);
    }
  }

  /// Communication failed and the job cannot continue. Earlier checkpoints are kept.
  public static final class Lost extends TrainingException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception with the first failure that this rank detected.
    public Lost(CommException cause) {
      super(String.valueOf(cause.getMessage()));
      initCause(cause);
    }
  }
}
