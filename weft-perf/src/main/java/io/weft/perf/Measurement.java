// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.report.BenchmarkHost;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One contestant's figures for one size over all rounds: one JSON object of the report. Latencies
/// are medians of the rounds' figures, `minMicros` the least of all, `roundP50Micros` each round's
/// own, and `roundHandoverNanos` what a cache line took between processors and back before what was
/// timed in it, null where there are no two; `roundsMoved` how many more were run and left out
/// because it took longer than was allowed, null where that was not asked for; bandwidths come from
/// `p50Micros`, in 10^9 bytes per second; `iterations` is per round. `messagesPerSecond` counts
/// requests that were answered, `outstanding` how many were on their way, or how many writes or
/// reads; they are null where that is not what is measured. `memory` is where the tensors lay;
/// `tensors` how many a step of `sendrecv` carried, of `bytes` each, and `requestsPerStep` how many
/// messages asked for them; `registered` is what rank 0 has registered with a device in an average
/// round of `registration`. `checked` says whether all results were compared and right, null where
/// the contestant compares nothing.
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

  /// The peer that is Weft itself.
  static final String WEFT = "weft";

  private static final MathContext SIX_DIGITS = new MathContext(6);

  /// How the processors stood to each other in a contestant's rounds: see `roundHandoverNanos` and
  /// `roundsMoved`.
  record Handovers(@Nullable List<Integer> nanos, @Nullable Integer moved) {}

  /// Of the samples that one contestant's rounds gave for one case.
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

  /// The median of the rounds', if all tell.
  private static @Nullable Double requests(List<RankReport.Sample> samples) {
    List<Double> told =
        samples.stream().map(RankReport.Sample::requests).filter(Objects::nonNull).toList();
    return told.size() < samples.size() ? null : rounded(Latencies.median(told));
  }

  /// The mean of the rounds, if all tell.
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

  /// The case in words: the size, and of `sendrecv` the number of tensors.
  String size() {
    String each = ByteSizes.format(bytes);
    if (tensors == null) {
      return each;
    }
    return tensors == 0 ? "empty step" : tensors + " x " + each;
  }

  /// Whether both are of the same case.
  boolean isBeside(Measurement other) {
    return bytes == other.bytes && Objects.equals(tensors, other.tensors);
  }

  /// Whether a result was compared and was wrong.
  static boolean differs(Measurement measurement) {
    return Boolean.FALSE.equals(measurement.checked());
  }

  private static double rounded(double value) {
    return new BigDecimal(value).round(SIX_DIGITS).doubleValue();
  }
}
