// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport.Sample;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/// The latencies of calls of one size in microseconds.
record Latencies(double p50Micros, double p99Micros, double minMicros, double meanMicros) {

  /// The precision of recorded values: a relative error of 10^-4.
  private static final int DIGITS = 4;

  /// Summarizes a sample, whose iterations have `calls` calls each. A program that measures
  /// latencies itself has them as figures.
  static Latencies of(Sample sample, int calls) {
    if (sample.nanos().isEmpty()) {
      return new Latencies(
          sample.number("p50Micros"),
          sample.number("p99Micros"),
          sample.number("minMicros"),
          sample.number("meanMicros"));
    }
    Histogram histogram = new Histogram(DIGITS);
    sample.nanos().forEach(histogram::recordValue);
    return new Latencies(
        histogram.getValueAtPercentile(50) / 1e3 / calls,
        histogram.getValueAtPercentile(99) / 1e3 / calls,
        histogram.getMinValue() / 1e3 / calls,
        histogram.getMean() / 1e3 / calls);
  }

  /// Returns a sample of these latencies.
  Sample sample(String key, @Nullable Boolean checked) {
    return new Sample(
        key,
        checked,
        List.of(),
        Map.of(
            "p50Micros", p50Micros,
            "p99Micros", p99Micros,
            "minMicros", minMicros,
            "meanMicros", meanMicros));
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
    return Figure.median(rounds.stream().map(figure).toList());
  }
}
