// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.experiment;

import io.weft.perf.process.Child;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.RankReport;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A system that takes part in an experiment.
///
/// @param name name for messages
/// @param round runs one round
public record Contestant(String name, Round round) {

  /// One round of a contestant.
  @FunctionalInterface
  public interface Round {
    /// Runs one round in new processes, which have all ended on return. Throws
    /// `PerfException.Failed`.
    RankReport run() throws InterruptedException;
  }

  /// Runs a program, which prints by `RankPrinter`, to its end. Throws `PerfException.Failed` if it
  /// fails.
  ///
  /// @param title name of the program for messages
  /// @param variables additional environment variables
  public static List<String> output(
      String title, List<String> command, Map<String, String> variables, Duration limit)
      throws InterruptedException {
    Child.ChildOutput outcome = Child.run(command, variables, limit);
    if (outcome.exit() != 0) {
      throw new PerfException.Failed(
          "%s ended with status %d:%n%s%n(%s)"
              .formatted(title, outcome.exit(), outcome.lastWords(), String.join(" ", command)));
    }
    return outcome.out();
  }
}
