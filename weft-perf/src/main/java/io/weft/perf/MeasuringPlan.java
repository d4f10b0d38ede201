// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.cluster.SecureMode;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What every contestant runs in each round: the same sizes, the same iteration counts, in this
/// order.
///
/// @param benchmark what is measured
/// @param transport "tcp", "shm", "verbs"
/// @param secure whether Weft's connections are encrypted; peers have no such setting
/// @param memory where the tensors of Weft's collectives lie, or what `REGISTRATION` registers
/// @param outstanding unanswered requests of `MESSAGES`, unfinished `WRITES` or `READS`
/// @param ranks at least 1
/// @param cases in ascending order of size, of `SENDRECV` within each number of tensors
/// @param warmUp untimed work on each size, twice: once over all sizes, once before each
/// @param limit a round of one contestant that takes longer is ended, and the measurement fails
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
  /// @param tensors of each iteration of `SENDRECV`, 0 for its empty step; else 1
  record PlannedCase(long bytes, int iterations, int tensors) {

    /// Of one tensor.
    PlannedCase(long bytes, int iterations) {
      this(bytes, iterations, 1);
    }
  }

  /// Iterations per round for this size unless the user says otherwise: 2000 up to 256 KiB, then as
  /// many as move 512 MiB, at least 10.
  static int iterations(long bytes) {
    return Math.clamp(BYTES_PER_CASE / Math.max(bytes, 1), FEWEST_ITERATIONS, MOST_ITERATIONS);
  }

  /// The arguments that every rank program takes: `BENCHMARK[:SETTING...] WARM_UP_MILLIS
  /// BYTES:ITERATIONS...`. The settings of a collective are Weft's own: where its tensors lie; that
  /// of `registration` is the same of the memory that it registers. Those of `messages`, `writes`
  /// and `reads` are all contestants': how many are outstanding, and how many an iteration counts.
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    arguments.add(benchmark.label() + settings());
    arguments.add(Long.toString(Span.millis(warmUp)));
    cases.forEach(c -> arguments.add(c.bytes() + ":" + c.iterations()));
    return arguments;
  }

  /// What the tool of `sendrecv` takes behind the runtime: `WARM_UP_MILLIS LIMIT_SECONDS
  /// BYTES:STEPS:TENSORS...`.
  List<String> sendRecvArguments() {
    List<String> arguments = new ArrayList<>();
    arguments.add(Long.toString(Span.millis(warmUp)));
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
