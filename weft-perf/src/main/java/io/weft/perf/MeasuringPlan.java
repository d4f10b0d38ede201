// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.cluster.SecureMode;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The plan of a round: sizes and iteration counts in order, which are equal for every contestant.
///
/// @param benchmark the benchmark
/// @param transport "tcp", "shm", "verbs"
/// @param secure the encryption of Weft's connections; peers have no such setting
/// @param memory the memory of the tensors of Weft's collectives, or the memory that `REGISTRATION`
///   registers
/// @param outstanding number of requests of `MESSAGES`, of `WRITES` or of `READS` in flight
/// @param ranks number of ranks, at least 1
/// @param cases the cases in ascending order of size, for `SENDRECV` within each number of tensors
/// @param warmUp untimed work on each size, once over all sizes and once before each size
/// @param limit time limit of a contestant's round, after which the measurement fails
record MeasuringPlan(
    Benchmark benchmark,
    String transport,
    SecureMode secure,
    TensorMemory memory,
    int outstanding,
    int ranks,
    List<PlannedCase> cases,
    Duration warmUp,
    Duration limit) {

  private static final long BYTES_PER_CASE = 512L << 20;
  private static final int MOST_ITERATIONS = 2000;
  private static final int FEWEST_ITERATIONS = 10;

  MeasuringPlan {
    cases = List.copyOf(cases);
  }

  /// One size.
  ///
  /// @param tensors number of tensors of an iteration of `SENDRECV`, 0 for its empty step;
  ///   otherwise 1
  record PlannedCase(long bytes, int iterations, int tensors) {

    /// Creates a case of one tensor.
    PlannedCase(long bytes, int iterations) {
      this(bytes, iterations, 1);
    }
  }

  /// Returns the default number of iterations per round: 2000 up to 256 KiB, then enough to move
  /// 512 MiB, at least 10.
  static int iterations(long bytes) {
    return Math.clamp(BYTES_PER_CASE / Math.max(bytes, 1), FEWEST_ITERATIONS, MOST_ITERATIONS);
  }

  /// Returns the arguments of every rank program: `BENCHMARK[:SETTING...] WARM_UP_MILLIS
  /// BYTES:ITERATIONS...`. The setting of a collective is the memory of its tensors, which only
  /// Weft observes. The setting of `registration` is the memory that it registers. The settings of
  /// `messages`, `writes` and `reads` are the number in flight and the number per iteration, which
  /// all contestants observe.
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    arguments.add(benchmark.label() + settings());
    arguments.add(Long.toString(ClampedDuration.millis(warmUp)));
    cases.forEach(c -> arguments.add(c.bytes() + ":" + c.iterations()));
    return arguments;
  }

  /// Returns the arguments of `sendrecv` after the runtime: `WARM_UP_MILLIS LIMIT_SECONDS
  /// BYTES:STEPS:TENSORS...`.
  List<String> sendRecvArguments() {
    List<String> arguments = new ArrayList<>();
    arguments.add(Long.toString(ClampedDuration.millis(warmUp)));
    arguments.add(Long.toString(limit.toSeconds()));
    cases.forEach(c -> arguments.add(c.bytes() + ":" + c.iterations() + ":" + c.tensors()));
    return arguments;
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
