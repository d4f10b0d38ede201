// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.comm.CommException;
import java.io.Serial;

/// A training run that cannot begin or go on, for a reason that is not communication.
public abstract sealed class TrainingException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  TrainingException(String message) {
    super(message);
  }

  /// The settings do not fit the data or the ranks. Nothing was trained.
  public static final class Unfit extends TrainingException {
    @Serial private static final long serialVersionUID = 1L;

    /// With the option, its value and what is allowed.
    public Unfit(String message) {
      super(message);
    }
  }

  /// Training went wrong: the loss is no number any more. Checkpoints before are kept.
  public static final class Diverged extends TrainingException {
    @Serial private static final long serialVersionUID = 1L;

    /// With the step and what to do.
    public Diverged(String message) {
      super(message);
    }
  }

  /// Communication failed, as the cause says; the job cannot go on. Checkpoints before are kept.
  public static final class Lost extends TrainingException {
    @Serial private static final long serialVersionUID = 1L;

    /// With the first failure that this rank saw.
    public Lost(CommException cause) {
      super(String.valueOf(cause.getMessage()));
      initCause(cause);
    }
  }
}
