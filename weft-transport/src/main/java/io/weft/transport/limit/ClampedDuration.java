// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Converts a user's `Duration` to a number, clamped to 73 years. `Duration` throws for values that
/// a `long` cannot hold, and a deadline would wrap. With the clamp, the sum of a clock and three
/// durations does not overflow. Stateless and thread-safe.
public final class ClampedDuration {

  /// 2^61 ns, which is 73 years.
  private static final long LONGEST_NANOS = 1L << 61;

  private ClampedDuration() {}

  /// Returns the duration in nanoseconds, clamped to plus or minus 73 years.
  public static long nanos(Duration length) {
    return Math.clamp(TimeUnit.NANOSECONDS.convert(length), -LONGEST_NANOS, LONGEST_NANOS);
  }

  /// Returns the clamped duration in milliseconds, rounded towards zero.
  public static long millis(Duration length) {
    return nanos(length) / 1_000_000;
  }
}
