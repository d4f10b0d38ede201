// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// A `Duration` that a user gave, as a number to count with: `Duration` itself throws for what a
/// `long` cannot hold, and a deadline wraps. Longer than 73 years is 73 years, so that a clock and
/// three of them can be added. Stateless; any thread.
public final class Span {

  /// 2^61 ns, 73 years.
  private static final long LONGEST_NANOS = 1L << 61;

  private Span() {}

  /// In nanoseconds, of 73 years before to 73 years after.
  public static long nanos(Duration length) {
    return Math.clamp(TimeUnit.NANOSECONDS.convert(length), -LONGEST_NANOS, LONGEST_NANOS);
  }

  /// The same in milliseconds, what is left over cut off.
  public static long millis(Duration length) {
    return nanos(length) / 1_000_000;
  }
}
