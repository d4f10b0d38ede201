// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.torture;

import java.io.IOException;
import java.util.List;

/// Repeats an ordeal, tells of each repetition, and prints a table of all.
public final class Torture {

  private Torture() {}

  /// Exit code 0 = all was as it must be, 1 = not, 2 = wrong usage.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Series series;
    try {
      series = TortureOptions.parse(List.of(arguments));
    } catch (IllegalArgumentException wrong) {
      System.err.println("torture: " + wrong.getMessage());
      System.err.print(TortureOptions.USAGE);
      System.exit(2);
      return;
    }
    List<Outcome> outcomes = series.run();
    System.out.print(new Tally(outcomes));
    System.exit(outcomes.stream().allMatch(Outcome::good) ? 0 : 1);
  }

  /// One repetition.
  public static Outcome once(Ordeal ordeal, Harm harm, long seed)
      throws IOException, InterruptedException {
    return new Repetition(ordeal, harm, seed).run();
  }
}
