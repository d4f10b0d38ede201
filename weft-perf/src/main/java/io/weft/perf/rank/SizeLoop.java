// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.RankPrinter;
import io.weft.perf.turns.Turns;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// The loop of a rank over all sizes, in turn with the other contestants. Rank 0 prints the report
/// that `RankReport` reads. Confined to the rank's main thread.
public final class SizeLoop {

  /// The number of turns in which each size is timed. It equals `PARTS` in `perf.h`.
  private static final int PARTS = 5;

  private final RankGroup ranks;
  private final RankArguments arguments;
  private final Calls calls;
  private final PrintStream err;

  /// The measured calls.
  @FunctionalInterface
  public interface Calls {

    /// Allocates the tensors of one size, which the caller closes.
    TimedCall open(RankCase one);
  }

  /// @param err stream for the case and the rank of a wrong result
  public SizeLoop(RankGroup ranks, RankArguments arguments, Calls calls, PrintStream err) {
    this.ranks = Objects.requireNonNull(ranks);
    this.arguments = Objects.requireNonNull(arguments);
    this.calls = Objects.requireNonNull(calls);
    this.err = Objects.requireNonNull(err);
  }

  /// Warms up, measures all sizes and prints them to `out`.
  ///
  /// @param name name and version of the measured library
  public void run(String name, PrintStream out) throws InterruptedException {
    RankPrinter report = new RankPrinter(Objects.requireNonNull(out), ranks.rank());
    try (Turns turns = Turns.join(System.getenv(), ranks.size())) {
      report.peer(Objects.requireNonNull(name));
      long longest = arguments.longestWarmUpNanos();
      for (RankCase one : arguments.cases()) {
        try (TimedCall call = calls.open(one)) {
          stopwatch(one, call).warmUp(arguments.firstWarmUpNanos(), longest);
        }
      }
      for (RankCase one : arguments.cases()) {
        turns.passOn();
        try (TimedCall call = calls.open(one)) {
          Stopwatch stopwatch = stopwatch(one, call);
          stopwatch.warmUp(arguments.warmUpNanos(), longest);
          Stopwatch.IterationTimes times = inParts(turns, stopwatch, one.iterations());
          complain(one, times);
          report.times(one.bytes(), times.allRight(), times.nanos());
        }
      }
      report.done();
    }
  }

  private Stopwatch stopwatch(RankCase one, TimedCall call) {
    return new Stopwatch(ranks, call, one.bytes());
  }

  /// Measures in parts. The other contestants take their turns between two parts, so each part
  /// after the first begins with a warm-up.
  private Stopwatch.IterationTimes inParts(Turns turns, Stopwatch stopwatch, int iterations)
      throws InterruptedException {
    int parts = turns.hasOthers() ? Math.min(PARTS, iterations) : 1;
    List<Stopwatch.IterationTimes> times = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      if (part > 0) {
        turns.passOn();
        stopwatch.warmUp(arguments.warmUpNanos() / PARTS, arguments.longestWarmUpNanos());
      }
      int begin = (int) ((long) iterations * part / parts);
      int end = (int) ((long) iterations * (part + 1) / parts);
      times.add(stopwatch.measure(end - begin));
    }
    return Stopwatch.IterationTimes.of(times);
  }

  private void complain(RankCase one, Stopwatch.IterationTimes times) {
    if (!times.rightHere()) {
      err.println(
          "rank %d: %s of %d bytes gave a wrong result"
              .formatted(ranks.rank(), arguments.benchmark(), one.bytes()));
    }
  }
}
