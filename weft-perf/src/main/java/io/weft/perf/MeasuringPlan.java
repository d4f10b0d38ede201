// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.cluster.SecureMode;
import io.weft.perf.process.PerfException;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.RankReport;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The plan of a round: sizes and iteration counts in order, which are equal for every contestant.
///
/// @param benchmark the benchmark
/// @param link the connections of the ranks
/// @param memory the memory of the tensors of Weft's collectives, or the memory that `REGISTRATION`
///   registers
/// @param outstanding number of requests of `MESSAGES`, of `WRITES` or of `READS` in flight
/// @param ranks number of ranks, at least 1
/// @param cases the cases in ascending order of size, for `SENDRECV` within each number of tensors
/// @param warmUp untimed work on each size, once over all sizes and once before each size
/// @param limit time limit of a contestant's round, after which the measurement fails
record MeasuringPlan(
    Benchmark benchmark,
    Link link,
    TensorMemory memory,
    int outstanding,
    int ranks,
    List<RankCase> cases,
    Duration warmUp,
    Duration limit) {

  /// The connections of the ranks.
  ///
  /// @param transport "tcp", "shm", "verbs"
  /// @param secure the encryption of Weft's connections; peers have no such setting
  record Link(String transport, SecureMode secure) {}

  private static final long BYTES_PER_CASE = 512L << 20;
  private static final int MOST_ITERATIONS = 2000;
  private static final int FEWEST_ITERATIONS = 10;

  MeasuringPlan {
    cases = List.copyOf(cases);
  }

  String transport() {
    return link.transport;
  }

  SecureMode secure() {
    return link.secure;
  }

  /// Returns the default number of iterations per round: 2000 up to 256 KiB, then enough to move
  /// 512 MiB, at least 10.
  static int iterations(long bytes) {
    return Math.clamp(BYTES_PER_CASE / Math.max(bytes, 1), FEWEST_ITERATIONS, MOST_ITERATIONS);
  }

  /// Returns the arguments of every rank program: `BENCHMARK[:SETTING...] WARM_UP_MILLIS
  /// BYTES:ITERATIONS[:TENSORS]...`. The setting of a collective is the memory of its tensors,
  /// which only Weft observes. The setting of `registration` is the memory that it registers. The
  /// settings of `messages`, `writes` and `reads` are the number in flight and the number per
  /// iteration, which all contestants observe.
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    arguments.add(benchmark.label() + settings());
    arguments.add(Long.toString(ClampedDuration.millis(warmUp)));
    cases.forEach(c -> arguments.add(c.word()));
    return arguments;
  }

  /// Parses the report of a round. Throws `PerfException.Failed` if it does not match this plan.
  RankReport report(List<String> lines) {
    RankReport report = RankReport.parse(lines, cases.stream().map(RankCase::key).toList());
    for (RankCase one : cases) {
      int times = report.sample(one.key()).nanos().size();
      if (times != one.iterations()) {
        throw new PerfException.Failed(
            "a rank program printed %d times of case %s, the plan has %d"
                .formatted(times, one.key(), one.iterations()));
      }
    }
    return report;
  }

  private String settings() {
    if (benchmark.isStream()) {
      return ":%d:%d".formatted(outstanding, benchmark.callsPerIteration());
    }
    return benchmark.isCollective() || benchmark == Benchmark.REGISTRATION
        ? ":" + memory.label()
        : "";
  }
}
