// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.Objects;

/// The spread of the times of a step over ranks and steps, whose times are independent and have a
/// normal distribution.
///
/// @param share standard deviation divided by the mean, at least 0
public record StepSpread(double share) {

  /// All steps take equally long.
  static final StepSpread NONE = new StepSpread(0);

  private static final double BOUND = 8;
  private static final double WIDTH = 1e-3;

  /// Throws `IllegalArgumentException` for a negative share.
  public StepSpread {
    if (!(share >= 0)) {
      throw new IllegalArgumentException("a spread of " + share + " must not be negative");
    }
  }

  /// Returns the expected time of the slowest of several ranks.
  ///
  /// @param step mean time of a step
  public Duration slowest(Duration step, int ranks) {
    Objects.requireNonNull(step, "step");
    double factor = 1 + share * expectedMaximum(ranks);
    return Duration.ofNanos(Math.round(factor * ClampedDuration.nanos(step)));
  }

  /// Returns the expected maximum of `count` numbers with the standard normal distribution: the
  /// integral of x times the density of the maximum.
  static double expectedMaximum(int count) {
    double below = 0;
    double sum = 0;
    for (double x = -BOUND; x < BOUND; x += WIDTH) {
      double density = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
      below += density * WIDTH;
      double middle = below - density * WIDTH / 2;
      sum += x * count * density * Math.pow(middle, count - 1.0) * WIDTH;
    }
    return sum;
  }
}
