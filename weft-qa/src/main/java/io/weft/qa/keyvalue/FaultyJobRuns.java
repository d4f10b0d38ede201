// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.testkit.sim.SimReport;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/// The program of `tools/simulate kv-faults`. It simulates parameter servers with mirrors under
/// faults, one job for each seed, and prints a line for each seed with an error. With a mutation it
/// searches the first seed that detects it.
public final class FaultyJobRuns {

  private static final int LINES_BETWEEN = 1000;

  private FaultyJobRuns() {}

  /// Plays the jobs of `runs` seeds. Returns the exit code, 1 after an error.
  ///
  /// @param traceLines number of last events that are printed after an error
  public static int run(long first, int runs, int traceLines, PrintStream out)
      throws InterruptedException {
    long begin = System.nanoTime();
    int wrong = 0;
    for (int done = 0; done < runs; done++) {
      if (done > 0 && done % LINES_BETWEEN == 0) {
        summary(first, done, wrong, begin, out);
      }
      FaultyJob job = FaultyJob.of(first + done);
      SimReport<Integer> report = FaultyJobs.play(job, traceLines);
      List<String> errors = FaultyJobs.errors(job, report);
      if (!errors.isEmpty()) {
        wrong++;
        out.println(job + "; replay: tools/simulate kv-faults --runs 1 --seed " + job.seed());
        errors.forEach(line -> out.println("  " + line));
        if (traceLines > 0) {
          out.println(report.summary() + report.trace());
        }
      }
    }
    summary(first, runs, wrong, begin, out);
    return wrong == 0 ? 0 : 1;
  }

  private static void summary(long first, int runs, int wrong, long begin, PrintStream out) {
    out.printf(
        Locale.ROOT,
        "%d runs, seeds %d to %d: %d correct, %d wrong; %.0f s%n",
        runs,
        first,
        first + runs - 1,
        runs - wrong,
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
