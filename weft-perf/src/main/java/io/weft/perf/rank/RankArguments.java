// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import java.util.List;

/// What every rank program is told: `BENCHMARK[:SETTING...] WARM_UP_MILLIS BYTES:ITERATIONS...`.
///
/// @param benchmark its label
/// @param settings what follows the label, such as the memory of tensors
/// @param warmUpNanos untimed work on each size
/// @param cases in the order in which they are measured, at least one
public record RankArguments(
    String benchmark, List<String> settings, long warmUpNanos, List<RankCase> cases) {

  /// The first pass over all sizes lasts at least this many warm-ups of one: it runs until the JVM
  /// has compiled what it will time. Programs in C do the same, `FIRST_WARM_UP_TIMES` in `perf.h`.
  private static final long COMPILING_TIMES = 30;

  /// And of one size at most so many: by then the JVM has compiled what it will time, or never
  /// will. At the default warm-up 40 s; four ranks on two cores take 20 s.
  private static final long MOST_COMPILING_TIMES = 200;

  /// Copies the lists.
  public RankArguments {
    settings = List.copyOf(settings);
    cases = List.copyOf(cases);
  }

  /// One size.
  ///
  /// @param bytes what is moved
  /// @param iterations that are timed
  public record RankCase(long bytes, int iterations) {

    private static RankCase of(String text) {
      int colon = text.indexOf(':');
      return new RankCase(
          Long.parseLong(text.substring(0, Math.max(colon, 0))),
          Integer.parseInt(text.substring(colon + 1)));
    }
  }

  /// Untimed work on each size in the first pass.
  public long firstWarmUpNanos() {
    return Math.max(warmUpNanos, COMPILING_TIMES * warmUpNanos / cases.size());
  }

  /// When a first pass over one size ends though the JVM still compiles.
  public long longestWarmUpNanos() {
    return MOST_COMPILING_TIMES * warmUpNanos;
  }

  /// Reads the words of a rank. Throws `IllegalArgumentException` that tells how they look.
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
