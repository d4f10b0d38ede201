// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/// The limits of a training apart from its epochs.
///
/// @param time from the first step after which training ends with the current epoch
/// @param steps after which training ends, resumed steps included; an epoch that it cuts is tested
///   but not saved
public record Limit(Optional<Duration> time, OptionalLong steps) {

  /// No limit.
  public static final Limit NONE = new Limit(Optional.empty(), OptionalLong.empty());

  /// Throws `IllegalArgumentException` if the number of steps is not positive.
  public Limit {
    Objects.requireNonNull(time, "time");
    if (steps.isPresent() && steps.getAsLong() < 1) {
      throw new IllegalArgumentException("a limit of " + steps.getAsLong() + " steps");
    }
  }

  /// Returns whether training may end before all epochs.
  public boolean isPresent() {
    return time.isPresent() || steps.isPresent();
  }

  /// Returns the number of steps of a whole training without a limit of time.
  public long steps(int epochs, int stepsPerEpoch) {
    return Math.min((long) epochs * stepsPerEpoch, steps.orElse(Long.MAX_VALUE));
  }
}
