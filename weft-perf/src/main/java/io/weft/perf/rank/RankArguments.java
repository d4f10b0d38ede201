// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import java.util.List;

/// The arguments of a rank program: `BENCHMARK[:SETTING...] WARM_UP_MILLIS
/// BYTES:ITERATIONS[:TENSORS]...`.
///
/// @param benchmark the benchmark's label
/// @param settings the settings after the label, such as the memory of the tensors
/// @param warmUpNanos duration of the untimed warm-up of each size
/// @param cases the sizes in measuring order, at least one
public record RankArguments(
    String benchmark, List<String> settings, long warmUpNanos, List<RankCase> cases) {

  /// The first pass over all sizes lasts at least this multiple of one size's warm-up, because the
  /// JVM must have compiled the timed code by its end. Programs in C do the same
  /// (`FIRST_WARM_UP_TIMES` in `perf.h`).
  private static final long COMPILING_TIMES = 30;

  /// The first pass over one size lasts at most this multiple of a warm-up, 40 s at the default. By
  /// then the JVM has compiled the timed code or never will. Four ranks on two cores take 20 s.
  private static final long MOST_COMPILING_TIMES = 200;

  /// Copies the lists.
  public RankArguments {
    settings = List.copyOf(settings);
    cases = List.copyOf(cases);
  }

  /// One size.
  ///
  /// @param bytes size of the tensor or message
  /// @param iterations number of timed iterations
  /// @param tensors number of tensors of an iteration of `sendrecv`, 0 for its empty step;
  ///   otherwise 1
  public record RankCase(long bytes, int iterations, int tensors) {

    private static RankCase of(String text) {
      List<String> words = List.of(text.split(":", -1));
      return new RankCase(
          Long.parseLong(words.get(0)),
          Integer.parseInt(words.get(1)),
          words.size() > 2 ? Integer.parseInt(words.get(2)) : 1);
    }

    /// Returns the case in the form that `parse` reads.
    public String word() {
      return bytes + ":" + iterations + (tensors == 1 ? "" : ":" + tensors);
    }

    /// Returns the key of the case in a report.
    public String key() {
      return tensors == 1 ? Long.toString(bytes) : bytes + "x" + tensors;
    }
  }

  /// Returns the duration of the untimed work on each size in the first pass.
  public long firstWarmUpNanos() {
    return Math.max(warmUpNanos, COMPILING_TIMES * warmUpNanos / cases.size());
  }

  /// Returns the longest duration of a warm-up of one size, which ends it even if the JVM still
  /// compiles.
  public long longestWarmUpNanos() {
    return MOST_COMPILING_TIMES * warmUpNanos;
  }

  /// Parses a rank's arguments. Throws `IllegalArgumentException` with the expected format.
  public static RankArguments parse(List<String> arguments) {
    try {
      List<String> words = List.of(arguments.get(0).split(":"));
      return new RankArguments(
          words.getFirst(),
          words.subList(1, words.size()),
          Long.parseLong(arguments.get(1)) * 1_000_000,
          arguments.stream().skip(2).map(RankCase::of).toList());
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "usage: BENCHMARK[:SETTING...] WARM_UP_MILLIS BYTES:ITERATIONS...: " + e.getMessage(), e);
    }
  }
}
