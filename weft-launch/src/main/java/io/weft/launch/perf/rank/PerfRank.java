// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.rank;

import io.weft.CommException;
import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.stream.Stream;

/// One rank of `weft perf`: `PerfRank BENCHMARK WARM_UP_MILLIS BYTES:ITERATIONS...`. Rank 0 prints
/// what `RankReport` reads.
public final class PerfRank {

  /// The first pass lasts at least this many warm-ups in all: it runs until the JVM has compiled
  /// what it will time, and on two cores the compiler takes its time from the ranks.
  private static final long COMPILING_TIMES = 30;

  private final Communicator communicator;
  private final PrintStream out;
  private final PrintStream err;

  private PerfRank(Communicator communicator, PrintStream out, PrintStream err) {
    this.communicator = communicator;
    this.out = out;
    this.err = err;
  }

  /// Ends with 0, 1 if the job failed, 2 for wrong arguments.
  public static void main(String[] arguments) {
    System.exit(run(arguments, System.out, System.err));
  }

  static int run(String[] arguments, PrintStream out, PrintStream err) {
    long warmUpNanos;
    List<Case> cases;
    try {
      warmUpNanos = Long.parseLong(arguments[1]) * 1_000_000;
      cases = Stream.of(arguments).skip(2).map(Case::of).toList();
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      err.println("usage: BENCHMARK WARM_UP_MILLIS BYTES:ITERATIONS...: " + e.getMessage());
      return 2;
    }
    try (Weft weft = Weft.init()) {
      new PerfRank(weft.communicator(), out, err).runAll(arguments[0], warmUpNanos, cases);
      return 0;
    } catch (CommException e) {
      err.println(e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("interrupted");
      return 1;
    }
  }

  private void runAll(String benchmark, long warmUpNanos, List<Case> cases)
      throws InterruptedException {
    say("peer weft");
    long first = Math.max(warmUpNanos, COMPILING_TIMES * warmUpNanos / cases.size());
    for (Case one : cases) {
      try (Arena arena = Arena.ofShared()) {
        stopwatch(benchmark, one, arena).warmUp(first);
      }
    }
    for (Case one : cases) {
      try (Arena arena = Arena.ofShared()) {
        Stopwatch stopwatch = stopwatch(benchmark, one, arena);
        stopwatch.warmUp(warmUpNanos);
        report(benchmark, one, stopwatch.measure(one.iterations()));
      }
    }
    say("done");
  }

  private Stopwatch stopwatch(String benchmark, Case one, Arena arena) {
    int ranks = communicator.size();
    Bench bench =
        new Bench(
            communicator,
            CollectiveOptions.named("perf/" + benchmark + "/" + one.bytes()),
            new Tiles(arena, ranks * (ranks + 1) / 2),
            arena,
            one.bytes());
    return new Stopwatch(communicator, work(benchmark, bench), one.bytes());
  }

  static Work work(String benchmark, Bench bench) {
    return switch (benchmark) {
      case "allreduce" -> new AllreduceWork(bench);
      case "broadcast" -> new BroadcastWork(bench);
      case "allgather" -> new AllgatherWork(bench);
      case "reducescatter" -> new ReduceScatterWork(bench);
      case "alltoall" -> new AlltoallWork(bench);
      case "barrier" -> new BarrierWork(bench);
      default -> throw new IllegalArgumentException("no benchmark '" + benchmark + "'");
    };
  }

  private void report(String benchmark, Case one, Stopwatch.Times times) {
    if (!times.rightHere()) {
      err.println(
          "rank %d: %s of %d bytes gave a wrong result"
              .formatted(communicator.rank(), benchmark, one.bytes()));
    }
    StringBuilder line = new StringBuilder("times ").append(one.bytes());
    line.append(times.allRight() ? " checked" : " wrong");
    for (long nanos : times.nanos()) {
      line.append(' ').append(nanos);
    }
    say(line.toString());
  }

  private void say(String line) {
    if (communicator.rank() == 0) {
      out.println(line);
      out.flush();
    }
  }

  private record Case(long bytes, int iterations) {

    static Case of(String text) {
      int colon = text.indexOf(':');
      return new Case(
          Long.parseLong(text.substring(0, Math.max(colon, 0))),
          Integer.parseInt(text.substring(colon + 1)));
    }
  }
}
