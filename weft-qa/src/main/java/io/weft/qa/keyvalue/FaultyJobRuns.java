// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.testkit.sim.SimReport;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The program of `tools/simulate kv-faults`. It simulates parameter servers with mirrors under
/// faults, one job for each seed, and prints a line for each seed with an error. With a mutation it
/// searches the first seed that detects it.
public final class FaultyJobRuns {

  private static final int LINES_BETWEEN = 1000;

  private final long first;
  private final int runs;
  private final int traceLines;
  private final PrintStream out;
  private final long begin = System.nanoTime();
  private final AtomicInteger next = new AtomicInteger();
  private int done;
  private int wrong;

  private FaultyJobRuns(long first, int runs, int traceLines, PrintStream out) {
    this.first = first;
    this.runs = runs;
    this.traceLines = traceLines;
    this.out = out;
  }

  /// Plays the jobs of `runs` seeds, as many at a time as there are processors. Returns the exit
  /// code, 1 after an error.
  ///
  /// @param traceLines number of last events that are printed after an error
  public static int run(long first, int runs, int traceLines, PrintStream out)
      throws InterruptedException {
    var series = new FaultyJobRuns(first, runs, traceLines, out);
    int threads = Runtime.getRuntime().availableProcessors();
    try (ExecutorService players = Executors.newFixedThreadPool(threads)) {
      Callable<@Nullable Void> player =
          () -> {
            series.play();
            return null;
          };
      for (Future<?> played : players.invokeAll(Collections.nCopies(threads, player))) {
        var unused = played.get();
      }
    } catch (ExecutionException broken) {
      throw new IllegalStateException("a simulation has broken", broken);
    }
    series.summary();
    return series.wrong == 0 ? 0 : 1;
  }

  /// Plays the jobs of the seeds that no other thread plays.
  private void play() throws InterruptedException {
    for (int at = next.getAndIncrement(); at < runs; at = next.getAndIncrement()) {
      FaultyJob job = FaultyJob.of(first + at);
      SimReport<Integer> report = FaultyJobs.play(job, traceLines);
      played(job, report, FaultyJobs.errors(job, report));
    }
  }

  private synchronized void played(FaultyJob job, SimReport<Integer> report, List<String> errors) {
    done++;
    if (!errors.isEmpty()) {
      wrong++;
      out.println(job + "; replay: tools/simulate kv-faults --runs 1 --seed " + job.seed());
      errors.forEach(line -> out.println("  " + line));
      if (traceLines > 0) {
        out.println(report.summary() + report.trace());
      }
    }
    if (done % LINES_BETWEEN == 0 && done < runs) {
      summary();
    }
  }

  private void summary() {
    out.printf(
        Locale.ROOT,
        "%d runs of seeds %d to %d: %d correct, %d wrong; %.0f s%n",
        done,
        first,
        first + runs - 1,
        done - wrong,
        wrong,
        (System.nanoTime() - begin) / 1e9);
  }

  /// Plays the jobs with a mutation until one detects it. Returns the exit code, 1 if none does.
  /// Throws `IllegalArgumentException` for an unknown name.
  public static int search(String name, long first, int runs, PrintStream out) {
    Mutation mutation =
        Arrays.stream(Mutation.values())
            .filter(each -> each.toString().equals(name))
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "unknown mutation '%s'; allowed: %s"
                            .formatted(
                                name,
                                Arrays.stream(Mutation.values())
                                    .map(Mutation::toString)
                                    .collect(Collectors.joining(", ")))));
    LongFunction<List<String>> jobs = MutantLoader.jobs(mutation);
    for (long seed = first; seed < first + runs; seed++) {
      List<String> errors = jobs.apply(seed);
      if (!errors.isEmpty()) {
        out.println(mutation + " is detected by seed " + seed + ": " + errors.getFirst());
        return 0;
      }
    }
    out.println(mutation + " is not detected by seeds " + first + " to " + (first + runs - 1));
    return 1;
  }
}
