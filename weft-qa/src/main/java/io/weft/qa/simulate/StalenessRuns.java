// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.qa.keyvalue.PushTime;
import io.weft.qa.keyvalue.StalenessJobs;
import java.io.PrintStream;
import java.util.List;

/// Jobs of workers with random delays, which check that no pull exceeds the staleness and no sum is
/// wrong.
final class StalenessRuns {

  private StalenessRuns() {}

  /// Prints a line for each seed with an error, and a summary. Returns the exit code.
  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    Options options = new Options(arguments, "runs", "seed");
    long first = options.number("seed", 1);
    int runs = options.count("runs", 1_000);
    long wrong = 0;
    long most = 0;
    for (long seed = first; seed < first + runs; seed++) {
      try {
        PushTime.Measured measured = StalenessJobs.play(seed);
        most = Math.max(most, measured.staleness());
      } catch (AssertionError failed) {
        wrong++;
        out.println(
            "seed "
                + seed
                + ": "
                + failed.getMessage()
                + "; replay: tools/simulate staleness --runs 1 --seed "
                + seed);
      }
    }
    out.printf(
        "%d jobs, seeds %d to %d: %d correct, %d wrong; workers were at most %d clocks"
            + " apart%n",
        runs, first, first + runs - 1, runs - wrong, wrong, most);
    return wrong == 0 ? 0 : 1;
  }
}
