// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.report.BenchmarkHost;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The figures of one contestant for one size over all rounds: one JSON object of the report.
///
/// - Latencies are medians of the rounds' figures. `minMicros` is the minimum of all rounds, and
///   `roundP50Micros` lists the rounds' medians.
/// - `roundHandoverNanos` lists the time that a cache line took between processors and back before
///   the timed part of each round. It is null without two processors.
/// - `roundsMoved` is the number of rounds that were discarded because this time exceeded the
///   limit. It is null without a limit.
/// - Bandwidths follow from `p50Micros`, in 10^9 bytes per second. `iterations` is the number per
///   round.
/// - `messagesPerSecond` counts answered requests. `outstanding` is the number of requests, writes
///   or reads in flight. Both are null for other benchmarks.
/// - `memory` is the memory of the tensors. `tensors` is the number of tensors of `bytes` in a step
///   of `sendrecv`, and `requestsPerStep` the number of messages that request them.
/// - `registered` is rank 0's registered memory in an average round of `registration`.
/// - `checked` is true if all results were compared and right. It is null if the contestant
///   compares nothing.
@JsonInclude(JsonInclude.Include.NON_NULL)
record Measurement(
    String benchmark,
    String peer,
    String transport,
    int ranks,
    long bytes,
    int iterations,
    int rounds,
    double p50Micros,
    double p99Micros,
    double minMicros,
    double meanMicros,
    double gigabytesPerSecond,
    double busGigabytesPerSecond,
    @Nullable Double messagesPerSecond,
    @Nullable Integer outstanding,
    @Nullable Integer tensors,
    @Nullable Double requestsPerStep,
    RankReport.@Nullable Registered registered,
    String memory,
    List<Double> roundP50Micros,
    @Nullable List<Integer> roundHandoverNanos,
    @Nullable Integer roundsMoved,
    @Nullable Boolean checked,
    BenchmarkHost host) {

  /// The name of Weft as a contestant.
  static final String WEFT = "weft";

  private static final MathContext SIX_DIGITS = new MathContext(6);

  /// The handovers of a cache line in a contestant's rounds, see `roundHandoverNanos` and
  /// `roundsMoved`.
  record Handovers(@Nullable List<Integer> nanos, @Nullable Integer moved) {}

  /// Summarizes the samples of one contestant's rounds for one case.
  static Measurement of(
      MeasuringPlan plan,
      MeasuringPlan.PlannedCase one,
      String peer,
      List<RankReport.Sample> samples,
      Handovers handovers,
      BenchmarkHost host) {
    Latencies latencies =
        Latencies.over(samples.stream().map(RankReport.Sample::latencies).toList());
    boolean messages = plan.benchmark() == Benchmark.MESSAGES;
    boolean isWeft = peer.equals(WEFT) || peer.equals(WeftPeer.EACH_TIME);
    TensorMemory memory = isWeft ? plan.memory() : TensorMemory.PRIVATE;
    double gigabytes = one.bytes() * one.tensors() / 1e3 / Math.max(latencies.p50Micros(), 1e-3);
    return new Measurement(
        plan.benchmark().label(),
        peer,
        plan.transport(),
        plan.ranks(),
        one.bytes(),
        one.iterations(),
        samples.size(),
        rounded(latencies.p50Micros()),
        rounded(latencies.p99Micros()),
        rounded(latencies.minMicros()),
        rounded(latencies.meanMicros()),
        rounded(gigabytes),
        rounded(gigabytes * plan.benchmark().busFactor(plan.ranks())),
        messages ? rounded(1e6 / Math.max(latencies.p50Micros(), 1e-6)) : null,
        plan.benchmark().isStream() ? plan.outstanding() : null,
        plan.benchmark() == Benchmark.SENDRECV ? one.tensors() : null,
        requests(samples),
        registered(samples),
        memory.label(),
        samples.stream().map(s -> rounded(s.latencies().p50Micros())).toList(),
        handovers.nanos(),
        handovers.moved(),
        checked(samples),
        host);
  }

  /// Returns the median of the rounds, null if a round has no count.
  private static @Nullable Double requests(List<RankReport.Sample> samples) {
    List<Double> told =
        samples.stream().map(RankReport.Sample::requests).filter(Objects::nonNull).toList();
    return told.size() < samples.size() ? null : rounded(Latencies.median(told));
  }

  /// Returns the mean of the rounds, null if a round has no count.
  private static RankReport.@Nullable Registered registered(List<RankReport.Sample> samples) {
    long calls = 0;
    long bytes = 0;
    double micros = 0;
    for (RankReport.Sample sample : samples) {
      RankReport.Registered one = sample.registered();
      if (one == null) {
        return null;
      }
      calls += one.calls();
      bytes += one.bytes();
      micros += one.micros();
    }
    int rounds = samples.size();
    return new RankReport.Registered(calls / rounds, bytes / rounds, rounded(micros / rounds));
  }

  private static @Nullable Boolean checked(List<RankReport.Sample> samples) {
    return samples.stream().anyMatch(sample -> sample.checked() == null)
        ? null
        : samples.stream().allMatch(sample -> Boolean.TRUE.equals(sample.checked()));
  }

  /// Returns the case in words: the size, and for `sendrecv` the number of tensors.
  String size() {
    String each = ByteSizes.format(bytes);
    if (tensors == null) {
      return each;
    }
    return tensors == 0 ? "empty step" : tensors + " x " + each;
  }

  /// Returns whether both measurements are of the same case.
  boolean isBeside(Measurement other) {
    return bytes == other.bytes && Objects.equals(tensors, other.tensors);
  }

  /// Returns whether a compared result was wrong.
  static boolean differs(Measurement measurement) {
    return Boolean.FALSE.equals(measurement.checked());
  }

  private static double rounded(double value) {
    return new BigDecimal(value).round(SIX_DIGITS).doubleValue();
  }
}
