// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.Locale;

/// Numbers as words of a row. Stateless.
final class Amount {

  private Amount() {}

  /// Returns three digits: `123`, `12.3`, `1.23`.
  static String number(double value) {
    double size = Math.abs(value);
    String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 0.095 ? "%.2f" : "%.4f";
    return String.format(Locale.ROOT, format, value);
  }

  /// Returns a factor: `1.23 times`.
  static String times(double factor) {
    return number(factor) + " times";
  }

  /// Returns a fraction in percent.
  static String percent(double fraction) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * fraction);
  }

  /// Returns a duration: `12.3 s`, `4.56 ms`.
  static String of(Duration duration) {
    double nanos = ClampedDuration.nanos(duration);
    if (nanos >= 1e9) {
      return number(nanos / 1e9) + " s";
    }
    return nanos >= 1e6 ? number(nanos / 1e6) + " ms" : number(nanos / 1e3) + " us";
  }
}
