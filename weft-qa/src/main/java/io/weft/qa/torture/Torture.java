// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/// Repeats a fault scenario, reports each repetition, and prints a table of all.
public final class Torture {

  private Torture() {}

  /// Exits with 0 if all ended correctly, 1 if not, 2 for a wrong command line.
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

  /// Runs one repetition.
  public static JobOutcome once(FaultScenario scenario, Harm harm, long seed)
      throws IOException, InterruptedException {
    return new Repetition(scenario, harm, seed).run();
  }
}
