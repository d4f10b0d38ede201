// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import java.util.List;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/// The latencies of calls of one size in microseconds.
record Latencies(double p50Micros, double p99Micros, double minMicros, double meanMicros) {

  /// The precision of recorded values: a relative error of 10^-4.
  private static final int DIGITS = 4;

  /// Summarizes one round, whose iterations have `calls` calls each. `nanos` must not be empty.
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

  /// Summarizes several rounds: the medians of the rounds' figures, and the minimum of all.
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

  /// Returns the middle figure, or the mean of the middle two.
  static double median(List<Double> figures) {
    List<Double> sorted = figures.stream().sorted().toList();
    int upper = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(upper)
        : (sorted.get(upper - 1) + sorted.get(upper)) / 2;
  }
}
