// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.cluster.elastic.AgreementSimulation;
import io.weft.cluster.elastic.AgreementSimulation.Outcome;
import io.weft.cluster.elastic.AgreementSimulation.Trouble;
import java.io.PrintStream;
import java.util.List;

/// Agreements on the members of the next epoch in jobs that shrink and grow, while ranks join, are
/// lost, or are suspected at random moments.
final class MembershipRuns {

  private MembershipRuns() {}

  /// Prints a line for each seed with an error, and a summary. Returns the exit code.
  static int run(List<String> arguments, PrintStream out) {
    Options options = new Options(arguments, "runs", "seed");
    long first = options.number("seed", 1);
    int runs = options.count("runs", 1_000);
    long wrong = 0;
    long joined = 0;
    long lost = 0;
    long epochs = 0;
    for (long seed = first; seed < first + runs; seed++) {
      for (Trouble trouble : Trouble.values()) {
        try {
          Outcome outcome = AgreementSimulation.play(seed, trouble);
          joined += outcome.joined();
          lost += outcome.lost();
          epochs += outcome.epoch();
        } catch (AssertionError disagreement) {
          wrong++;
          out.println(
              "seed "
                  + seed
                  + ", "
                  + trouble
                  + ": "
                  + disagreement.getMessage()
                  + "; replay: tools/simulate membership --runs 1 --seed "
                  + seed);
        }
      }
    }
    out.printf(
        "%d jobs, seeds %d to %d: %d correct, %d wrong; %d epochs, %d ranks joined, %d were"
            + " lost%n",
        2L * runs, first, first + runs - 1, 2L * runs - wrong, wrong, epochs, joined, lost);
    return wrong == 0 ? 0 : 1;
  }
}
