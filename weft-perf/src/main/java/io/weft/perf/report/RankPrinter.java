// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import java.io.PrintStream;

/// Prints the lines that `RankReport` parses: `peer NAME VERSION`, for each case `times KEY
/// checked|wrong NANOS...` and `figure NAME NUMBER`, and finally `done`. Only rank 0 prints.
///
/// @param out the stream to print to
/// @param rank this rank
public record RankPrinter(PrintStream out, int rank) {

  /// Prints the name of the measured program.
  public void peer(String name) {
    say("peer " + name);
  }

  /// Prints the times of one case. `right` is true if every result of every rank was right.
  public void times(Object key, boolean right, long... nanos) {
    StringBuilder line = new StringBuilder("times ").append(key);
    line.append(right ? " checked" : " wrong");
    for (long one : nanos) {
      line.append(' ').append(one);
    }
    say(line.toString());
  }

  /// Prints a figure of the last case.
  public void figure(String name, double number) {
    say("figure " + name + " " + number);
  }

  /// Prints the end of the report.
  public void done() {
    say("done");
  }

  private void say(String line) {
    if (rank == 0) {
      out.println(line);
      out.flush();
    }
  }
}
