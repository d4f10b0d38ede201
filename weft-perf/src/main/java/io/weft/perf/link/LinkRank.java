// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.perf.rank.RankArguments;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.rank.Tiles;
import io.weft.perf.report.RankPrinter;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.util.List;

/// The program of one of the two ranks of a benchmark without collectives. Rank 0 prints the report
/// that `RankReport` reads.
public final class LinkRank {

  private static final int FEWEST_ITERATIONS = 3;
  private static final int WARM_UP_BATCH = 16;
  private static final long LARGE_BYTES = 1 << 20;
  private static final String REGISTRATION = "registration";

  private final PeerLink link;
  private final RankArguments arguments;
  private final Tiles tiles;

  private LinkRank(PeerLink link, RankArguments arguments, Tiles tiles) {
    this.link = link;
    this.arguments = arguments;
    this.tiles = tiles;
  }

  /// Exits with 0, with 1 if the job failed, with 2 for wrong arguments.
  public static void main(String[] arguments) {
    RankProgram.exit(arguments, LinkRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    RankArguments arguments = RankArguments.parse(words);
    LaunchEnvironment launch = LaunchEnvironment.detect(System.getenv());
    try (Arena arena = Arena.ofShared();
        PeerLink link = PeerLink.open(launch, WeftConfig.load())) {
      new LinkRank(link, arguments, new Tiles(arena, 1)).runAll(new RankPrinter(out, link.rank()));
    }
  }

  private void runAll(RankPrinter report) {
    report.peer("weft");
    long each = arguments.warmUpNanos();
    long first = arguments.firstWarmUpNanos();
    for (RankCase one : arguments.cases()) {
      try (Exercise exercise = exercise(one.bytes())) {
        warmUp(exercise, one.bytes(), first);
      }
    }
    for (RankCase one : arguments.cases()) {
      try (Exercise exercise = exercise(one.bytes())) {
        long t = warmUp(exercise, one.bytes(), each);
        long[] nanos = {};
        Registrations before = Registrations.of(link.transport());
        if (link.rank() == 0) {
          nanos = exercise.drive(t, one.iterations());
        } else {
          exercise.answer(t, one.iterations());
        }
        Registrations registrations = Registrations.of(link.transport()).since(before);
        report.times(one.bytes(), allRight(exercise), nanos);
        if (arguments.benchmark().equals(REGISTRATION)) {
          report.figure("registrations", (double) registrations.calls());
          report.figure("registeredBytes", (double) registrations.bytes());
          report.figure("registeringNanos", (double) registrations.nanos());
        }
      }
    }
    report.done();
    leave();
  }

  /// Ends the conversation. A close drops messages that have not been sent yet, so rank 0 closes
  /// first, after rank 1 has received all its messages.
  private void leave() {
    if (link.rank() == 1) {
      link.say(Signal.READY);
      link.awaitEnd();
    } else {
      link.await(Signal.READY);
    }
  }

  /// Exchanges the results of the comparisons. Both ranks wait, so that neither frees memory that
  /// the other still uses.
  private boolean allRight(Exercise exercise) {
    link.say(exercise.isRight() ? Signal.RIGHT : Signal.WRONG);
    return link.hear() == Signal.RIGHT && exercise.isRight();
  }

  /// Warms up in batches until rank 0 ends the warm-up. Returns the number of iterations.
  private long warmUp(Exercise exercise, long bytes, long nanos) {
    long begin = System.nanoTime();
    int batch = bytes > LARGE_BYTES ? FEWEST_ITERATIONS : WARM_UP_BATCH;
    if (arguments.settings().size() > 1) {
      // In a stream, one iteration already is a batch.
      batch = 1;
    }
    for (long t = 0; ; t += batch) {
      boolean again;
      if (link.rank() == 0) {
        again = t == 0 || System.nanoTime() - begin < nanos;
        link.say(again ? Signal.AGAIN : Signal.ENOUGH);
      } else {
        again = link.hear() == Signal.AGAIN;
      }
      if (!again) {
        return t;
      }
      if (link.rank() == 0) {
        exercise.drive(t, batch);
      } else {
        exercise.answer(t, batch);
      }
    }
  }

  private Exercise exercise(long bytes) {
    return switch (arguments.benchmark()) {
      case "pingpong" -> new PingPong(link, tiles, bytes);
      case "bandwidth" -> new Bandwidth(link, tiles, bytes);
      case "messages" ->
          new Messages(link, bytes, setting(0, "outstanding"), setting(1, "messages in a batch"));
      case "writes" ->
          new Writes(
              link, tiles, bytes, setting(0, "outstanding"), setting(1, "writes in a batch"));
      case "reads" ->
          new Reads(link, tiles, bytes, setting(0, "outstanding"), setting(1, "reads in a batch"));
      case REGISTRATION ->
          new Registering(link, tiles, bytes, arguments.settings().equals(List.of("own")));
      default -> throw new IllegalArgumentException("no benchmark '" + arguments.benchmark() + "'");
    };
  }

  private int setting(int index, String what) {
    if (arguments.settings().size() <= index) {
      throw new IllegalArgumentException(
          "usage: %s:OUTSTANDING:BATCH...: there is no number of %s"
              .formatted(arguments.benchmark(), what));
    }
    return Integer.parseInt(arguments.settings().get(index));
  }
}
