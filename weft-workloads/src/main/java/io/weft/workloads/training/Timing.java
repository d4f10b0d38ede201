// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import java.util.List;
import java.util.Optional;

/// The distribution of the time of the steps. The three shares add up to the time of all steps and
/// are means over the ranks; tests and checkpoints are excluded.
///
/// *Computing* lasts from the start of a step until its last collective is submitted, plus the time
/// after the last collective; it includes communication that computation hides. *Communicating* is
/// the part of the rest for which even the slowest rank of the step had to wait. *Waiting* is the
/// remainder: the time for which a rank waits because another rank submitted later.
///
/// With parameter servers the shares are not known: they are NaN.
///
/// @param samplesPerSecond over all ranks
/// @param stepNanos of rank 0, in order
/// @param computeSeconds as above
/// @param communicationSeconds as above
/// @param waitSeconds as above
/// @param inFlightSeconds during which any collective was running, hidden or not
/// @param steady the timing of the steps that began 5 s or more after the first step
public record Timing(
    double samplesPerSecond,
    List<Long> stepNanos,
    double computeSeconds,
    double communicationSeconds,
    double waitSeconds,
    double inFlightSeconds,
    Optional<Timing> steady) {

  /// Copies the list.
  public Timing {
    stepNanos = List.copyOf(stepNanos);
  }

  /// Returns the timing of a training with parameter servers, whose shares are not known.
  public static Timing ofWorkers(double samplesPerSecond, List<Long> stepNanos) {
    double unknown = Double.NaN;
    return new Timing(
        samplesPerSecond, stepNanos, unknown, unknown, unknown, unknown, Optional.empty());
  }

  /// Returns the step time in milliseconds at this quantile (0 to 1); 0 without steps.
  public double quantileMillis(double part) {
    if (stepNanos.isEmpty()) {
      return 0;
    }
    List<Long> sorted = stepNanos.stream().sorted().toList();
    int at = (int) Math.ceil(part * sorted.size()) - 1;
    return sorted.get(Math.clamp(at, 0, sorted.size() - 1)) / 1e6;
  }
}
