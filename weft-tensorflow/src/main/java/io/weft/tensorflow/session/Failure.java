// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.comm.CommException;
import io.weft.tensorflow.session.StepException.Reason;
import org.jspecify.annotations.Nullable;

/// Why a step failed on a task.
///
/// @param reason of which kind
/// @param rank who is to blame, as far as that task knows
/// @param echo whether it only followed from a failure on another task, which says more
/// @param text for people
record Failure(Reason reason, int rank, boolean echo, String text) {

  /// Of a run that threw.
  ///
  /// @param here this rank
  /// @param received why a receive failed; null if none did
  /// @param late whether the step's time is over
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
