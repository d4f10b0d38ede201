// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import java.util.List;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/// How long calls of one size took, in microseconds.
record Latencies(double p50Micros, double p99Micros, double minMicros, double meanMicros) {

  /// Relative error of a recorded value: 10^-4.
  private static final int DIGITS = 4;

  /// Of one round whose iterations held so many calls each; `nanos` must not be empty.
  static Latencies of(long[] nanos, int calls) {
    Histogram histogram = new Histogram(DIGITS);
    for (long one : nanos) {
      histogram.recordValue(one);
    }
    return new Latencies(
        histogram.getValueAtPercentile(50) / 1e3 / calls,
        histogram.getValueAtPercentile(99) / 1e3 / calls,
        histogram.getMinValue() / 1e3 / calls,
        histogram.getMean() / 1e3 / calls);
  }

  /// Of several rounds: the medians of the rounds' figures, and the least of their least.
  static Latencies over(List<Latencies> rounds) {
    return new Latencies(
        median(rounds, Latencies::p50Micros),
        median(rounds, Latencies::p99Micros),
        rounds.stream().map(Latencies::minMicros).min(Double::compare).orElseThrow(),
        median(rounds, Latencies::meanMicros));
  }

  private static double median(List<Latencies> rounds, Function<Latencies, Double> figure) {
    return median(rounds.stream().map(figure).toList());
  }

  /// The middle one, or the mean of the middle two.
  static double median(List<Double> figures) {
    List<Double> sorted = figures.stream().sorted().toList();
    int upper = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(upper)
        : (sorted.get(upper - 1) + sorted.get(upper)) / 2;
  }
}
