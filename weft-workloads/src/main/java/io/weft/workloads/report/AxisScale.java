// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import java.util.List;
import java.util.Locale;

/// The marks of an axis: round numbers from `low` to `high`, `step` apart.
///
/// @param low at most the smallest value
/// @param high at least the largest value, above `low`
/// @param step 2, 5 or 10 times a power of ten
record AxisScale(double low, double high, double step) {

  private static final int TICKS = 5;

  static AxisScale of(List<Double> values) {
    return from(
        values.stream().min(Double::compare).orElse(0.0),
        values.stream().max(Double::compare).orElse(1.0));
  }

  static AxisScale from(double low, double high) {
    if (high <= low) {
      double margin = Math.max(1e-6, Math.abs(high) * 0.05);
      return from(low - margin, low + margin);
    }
    double rough = (high - low) / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step = rough / power <= 2 ? 2 * power : rough / power <= 5 ? 5 * power : 10 * power;
    double from = Math.floor(low / step) * step;
    return new AxisScale(from, Math.max(from + step, Math.ceil(high / step) * step), step);
  }

  /// Returns the label of a mark, with the number of decimals of the step.
  String number(double value) {
    return String.format(Locale.ROOT, "%,." + decimals() + "f", value);
  }

  /// Returns the label of a mark that a library has placed, perhaps between the scale's marks. It
  /// has one more decimal, unless that decimal is 0.
  String numberBetween(double value) {
    String all = String.format(Locale.ROOT, "%,." + (decimals() + 1) + "f", value);
    return all.endsWith("0") ? number(value) : all;
  }

  private int decimals() {
    return Math.max(0, (int) -Math.floor(Math.log10(step) + 1e-9));
  }
}
