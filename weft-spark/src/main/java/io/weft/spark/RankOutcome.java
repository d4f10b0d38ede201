// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.io.Serializable;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The end of a rank, as its task reports it to the driver. A lost peer is not an outcome: the task
/// then fails, and Spark may run the stage again.
sealed interface RankOutcome extends Serializable {

  /// Returns the rank that ended.
  int rank();

  /// The program returned.
  ///
  /// @param rank the rank
  /// @param result its result
  record Completed(int rank, @Nullable Serializable result) implements RankOutcome {}

  /// The program, or the start of the rank, threw an exception.
  ///
  /// @param rank the rank
  /// @param message rank, executor and message of the exception
  /// @param trace the stack trace
  record Failed(int rank, String message, String trace) implements RankOutcome {
    /// Throws `NullPointerException` if a text is null.
    public Failed {
      Objects.requireNonNull(message, "message");
      Objects.requireNonNull(trace, "trace");
    }
  }

  /// The program was ended by the failure of another rank, which reports it.
  ///
  /// @param rank the rank
  /// @param by the other rank
  record Stopped(int rank, int by) implements RankOutcome {}
}
