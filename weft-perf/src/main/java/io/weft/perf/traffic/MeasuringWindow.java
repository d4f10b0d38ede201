// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/// The measuring time. A step counts if it ends within the window. Safe for use by any thread.
final class MeasuringWindow {

  private static final int DIGITS = 3;

  private final long begin;
  private final long end;
  private final Histogram nanos = new Histogram(DIGITS);
  private long all;

  /// Creates a window that begins `wait` from now.
  MeasuringWindow(Duration wait, Duration length) {
    begin = System.nanoTime() + ClampedDuration.nanos(wait);
    end = begin + ClampedDuration.nanos(length);
  }

  /// Returns true if later steps do not count.
  ///
  /// @param now a time of `System.nanoTime`
  boolean isOver(long now) {
    return now - end >= 0;
  }

  /// Records a step from `from` to `to`.
  synchronized void record(long from, long to) {
    all++;
    if (to - begin >= 0 && to - end < 0) {
      nanos.recordValue(to - from);
    }
  }

  /// Returns the number of all steps, including those outside the window.
  synchronized long steps() {
    return all;
  }

  /// Returns the report of a case: `STEPS WINDOW_NANOS P50_NANOS P99_NANOS REQUESTS_PER_STEP`.
  ///
  /// @param requests number of requests of all steps, including those outside the window
  synchronized String words(long requests) {
    return String.format(
        Locale.ROOT,
        "%d %d %d %d %.3f",
        nanos.getTotalCount(),
        end - begin,
        nanos.getValueAtPercentile(50),
        nanos.getValueAtPercentile(99),
        requests / (double) Math.max(1, all));
  }
}
