// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import java.io.PrintStream;

/// The lines that `RankReport` reads, spoken by rank 0 and by nobody else.
///
/// @param out where to
/// @param rank of the speaker
public record SpokenReport(PrintStream out, int rank) {

  /// Who measures.
  public void peer(String name) {
    say("peer " + name);
  }

  /// One case: `right` says whether every result of every rank was.
  public void times(long bytes, boolean right, long[] nanos) {
    StringBuilder line = new StringBuilder("times ").append(bytes);
    line.append(right ? " checked" : " wrong");
    for (long one : nanos) {
      line.append(' ').append(one);
    }
    say(line.toString());
  }

  /// What registering memory with a device has cost in the last case.
  public void registered(long calls, long bytes, long nanos) {
    say("registered " + calls + " " + bytes + " " + nanos);
  }

  /// The end.
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
