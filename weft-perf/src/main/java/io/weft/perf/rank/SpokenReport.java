// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import java.io.PrintStream;

/// Prints the lines that `RankReport` reads. Only rank 0 prints them.
///
/// @param out the stream to print to
/// @param rank this rank
public record SpokenReport(PrintStream out, int rank) {

  /// Prints the name of the measured program.
  public void peer(String name) {
    say("peer " + name);
  }

  /// Prints the times of one case. `right` is true if every result of every rank was right.
  public void times(long bytes, boolean right, long[] nanos) {
    StringBuilder line = new StringBuilder("times ").append(bytes);
    line.append(right ? " checked" : " wrong");
    for (long one : nanos) {
      line.append(' ').append(one);
    }
    say(line.toString());
  }

  /// Prints the cost of registering memory with a device in the last case.
  public void registered(long calls, long bytes, long nanos) {
    say("registered " + calls + " " + bytes + " " + nanos);
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
