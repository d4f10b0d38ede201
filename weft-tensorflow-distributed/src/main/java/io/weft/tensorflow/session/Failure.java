// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.comm.CommException;
import io.weft.tensorflow.session.StepException.Reason;
import org.jspecify.annotations.Nullable;

/// The cause of a step's failure on a task.
///
/// @param reason the kind of failure
/// @param rank the rank at fault, as far as the task knows
/// @param echo true if the failure only followed from a failure on another task, which knows more
/// @param text the human-readable message
record Failure(Reason reason, int rank, boolean echo, String text) {

  /// Returns the failure of a run that threw.
  ///
  /// @param here this rank
  /// @param received the failure of a receive; null if none failed
  /// @param late true if the step's deadline has passed
  static Failure of(
      RuntimeException thrown, @Nullable CommException received, int here, boolean late) {
    String text = String.valueOf(thrown.getMessage());
    return switch (received) {
      case null -> new Failure(late ? Reason.TIMED_OUT : Reason.FAILED, here, false, text);
      case CommException.PeerLost lost -> new Failure(Reason.TASK_LOST, lost.rank(), false, text);
      case CommException.Aborted aborted when late ->
          new Failure(
              Reason.TIMED_OUT, aborted.culprit() < 0 ? here : aborted.culprit(), false, text);
      case CommException.Aborted aborted ->
          new Failure(Reason.FAILED, aborted.culprit() < 0 ? here : aborted.culprit(), true, text);
      default -> new Failure(Reason.FAILED, here, false, text);
    };
  }
}
