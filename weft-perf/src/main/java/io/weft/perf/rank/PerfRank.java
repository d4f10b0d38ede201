// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.RankPrinter;
import io.weft.perf.turns.Turns;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/// The program of one rank that measures a collective. It takes `RankArguments`. Rank 0 prints the
/// report that `RankReport` reads.
public final class PerfRank {

  /// The number of turns in which each size is timed. It equals `PARTS` in `perf.h`.
  private static final int PARTS = 5;

  private final Weft weft;
  private final Communicator communicator;
  private final RankArguments arguments;
  private final PrintStream err;

  private PerfRank(Weft weft, RankArguments arguments, PrintStream err) {
    this.weft = weft;
    this.communicator = weft.communicator();
    this.arguments = arguments;
    this.err = err;
  }

  /// Exits with 0, with 1 if the job failed, with 2 for wrong arguments.
  public static void main(String[] arguments) {
    RankProgram.exit(arguments, PerfRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    RankArguments arguments = RankArguments.parse(words);
    try (Weft weft = Weft.init();
        Turns turns = Turns.join(System.getenv(), weft.communicator().size())) {
      new PerfRank(weft, arguments, err).runAll(turns, new RankPrinter(out, weft.rank()));
    }
  }

  private void runAll(Turns turns, RankPrinter report) throws InterruptedException {
    report.peer("weft");
    long longest = arguments.longestWarmUpNanos();
    for (RankCase one : arguments.cases()) {
      try (CaseTensors tensors = tensors()) {
        stopwatch(one, tensors).warmUp(arguments.firstWarmUpNanos(), longest);
      }
    }
    for (RankCase one : arguments.cases()) {
      turns.passOn();
      try (CaseTensors tensors = tensors()) {
        Stopwatch stopwatch = stopwatch(one, tensors);
        stopwatch.warmUp(arguments.warmUpNanos(), longest);
        Stopwatch.IterationTimes times = inParts(turns, stopwatch, one.iterations());
        complain(one, times);
        report.times(one.bytes(), times.allRight(), times.nanos());
      }
    }
    report.done();
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

  /// Returns tensors in the memory that the settings choose: `own` or `private`.
  private CaseTensors tensors() {
    return arguments.settings().contains("own")
        ? CaseTensors.of(weft)
        : CaseTensors.ofThisProgram();
  }

  private Stopwatch stopwatch(RankCase one, CaseTensors tensors) {
    int ranks = communicator.size();
    Bench bench =
        new Bench(
            communicator,
            CollectiveOptions.named("perf/" + arguments.benchmark() + "/" + one.bytes()),
            new Tiles(tensors.arena(), ranks * (ranks + 1) / 2),
            tensors,
            one.bytes());
    return new Stopwatch(communicator, Work.of(arguments.benchmark(), bench), one.bytes());
  }

  private void complain(RankCase one, Stopwatch.IterationTimes times) {
    if (!times.rightHere()) {
      err.println(
          "rank %d: %s of %d bytes gave a wrong result"
              .formatted(communicator.rank(), arguments.benchmark(), one.bytes()));
    }
  }
}
