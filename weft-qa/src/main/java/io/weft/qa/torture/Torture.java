// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/// Repeats a fault scenario, tells of each repetition, and prints a table of all.
public final class Torture {

  private Torture() {}

  /// Exit code 0 = all was as it must be, 1 = not, 2 = wrong usage.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    System.exit(run(List.of(arguments), System.out, System.err));
  }

  static int run(List<String> arguments, PrintStream out, PrintStream err)
      throws IOException, InterruptedException {
    Series series;
    try {
      series = TortureOptions.parse(arguments);
    } catch (IllegalArgumentException wrong) {
      err.println("torture: " + wrong.getMessage());
      err.print(TortureOptions.USAGE);
      return 2;
    }
    List<JobOutcome> outcomes = series.run(out, err);
    out.print(new ResultTable(outcomes));
    return outcomes.stream().allMatch(JobOutcome::good) ? 0 : 1;
  }

  /// One repetition.
  public static JobOutcome once(FaultScenario scenario, Harm harm, long seed)
      throws IOException, InterruptedException {
    return new Repetition(scenario, harm, seed).run();
  }
}
