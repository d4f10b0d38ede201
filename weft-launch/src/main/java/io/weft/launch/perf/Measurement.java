// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;

/// One contestant's figures for one size over all rounds: one JSON object of the report. Latencies
/// are medians of the rounds' figures, `minMicros` the least of all; bandwidths come from
/// `p50Micros`, in 10^9 bytes per second; `iterations` is per round.
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
    boolean checked,
    HostFacts host) {

  private static final MathContext SIX_DIGITS = new MathContext(6);

  /// Of the samples that one contestant's rounds gave for one case.
  static Measurement of(
      Plan plan, Plan.Case one, String peer, List<RankReport.Sample> samples, HostFacts host) {
    Latencies latencies =
        Latencies.over(samples.stream().map(RankReport.Sample::latencies).toList());
    double gigabytes = one.bytes() / 1e3 / Math.max(latencies.p50Micros(), 1e-3);
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
        samples.stream().allMatch(RankReport.Sample::checked),
        host);
  }

  private static double rounded(double value) {
    return new BigDecimal(value).round(SIX_DIGITS).doubleValue();
  }
}
