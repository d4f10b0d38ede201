// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.report.BenchmarkHost;
import io.weft.transport.limit.ClampedDuration;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The figures of one contestant for one number of workers over all rounds: one JSON object of the
/// report. They are medians of the rounds. `roundStepsPerSecond` lists the step rate of each round.
/// In a simulated figure, all nullable components are absent.
@JsonInclude(JsonInclude.Include.NON_NULL)
record TrafficFigure(
    String benchmark,
    String peer,
    boolean simulated,
    @Nullable String transport,
    int workers,
    int servers,
    int tensors,
    int bytes,
    @Nullable Long computeMicros,
    double stepsPerSecond,
    @Nullable Double p50Millis,
    @Nullable Double p99Millis,
    double requestsPerStep,
    @Nullable List<Double> roundStepsPerSecond,
    @Nullable Boolean checked,
    @Nullable BenchmarkHost host) {

  static final String BENCHMARK = "wide-deep-traffic";

  private static final MathContext SIX_DIGITS = new MathContext(6);

  /// Summarizes the rounds of one contestant.
  static TrafficFigure of(
      TrafficPlan plan,
      String peer,
      String transport,
      List<TrafficReport.TrafficCase> rounds,
      BenchmarkHost host) {
    return new TrafficFigure(
        BENCHMARK,
        peer,
        false,
        transport,
        rounds.getFirst().workers(),
        plan.servers(),
        plan.tensors(),
        plan.bytes(),
        ClampedDuration.nanos(plan.compute()) / 1000,
        median(rounds, TrafficReport.TrafficCase::stepsPerSecond),
        median(rounds, TrafficReport.TrafficCase::p50Millis),
        median(rounds, TrafficReport.TrafficCase::p99Millis),
        median(rounds, TrafficReport.TrafficCase::requestsPerStep),
        rounds.stream().map(round -> rounded(round.stepsPerSecond())).toList(),
        rounds.stream().allMatch(TrafficReport.TrafficCase::checked),
        host);
  }

  private static double median(
      List<TrafficReport.TrafficCase> rounds, Function<TrafficReport.TrafficCase, Double> figure) {
    List<Double> sorted = rounds.stream().map(figure).sorted().toList();
    int upper = sorted.size() / 2;
    return rounded(
        sorted.size() % 2 == 1
            ? sorted.get(upper)
            : (sorted.get(upper - 1) + sorted.get(upper)) / 2);
  }

  private static double rounded(double value) {
    return new BigDecimal(value).round(SIX_DIGITS).doubleValue();
  }
}
