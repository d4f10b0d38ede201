// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import java.io.PrintStream;
import java.util.List;

/// The program behind `tools/endurance` (docs/testing.md).
final class Endurance {

  private static final String USAGE =
      """
      usage: tools/endurance WORK [--OPTION VALUE]...
        small      steps that carry many small tensors from a server to a worker, each compared
        cancelled  steps that are given up at random moments, or not, of a tensor of 80 KB
          --steps N        100000 of small, 10000 of cancelled
          --tensors N      of a step of small (100)
          --bytes N        of each of them (256)
          --transport T    tcp or shm (tcp)
          --seed N         of the moments (20261122)
          --growth MIB     by how much a process may grow between a tenth of the steps and the end (64)
        watch STEPS        what a part's watch of its run costs a step (docs/adr/0052)
      Two processes of this host. Exit code 0: every result was right, nothing was left pending and
      memory was level; 1: not so, and a line says what; 2: the call was wrong.
      """;

  private static final String WATCH = "watch";

  private Endurance() {}

  /// See `USAGE`.
  public static void main(String[] words) throws Exception {
    System.exit(run(List.of(words), System.out));
  }

  private static int run(List<String> words, PrintStream out) throws Exception {
    Options options;
    try {
      if (words.size() == 2 && words.getFirst().equals(WATCH)) {
        WatchCost.run(Integer.parseInt(words.getLast()), out);
        return 0;
      }
      options = Options.parse(words);
    } catch (IllegalArgumentException e) {
      out.println(e.getMessage());
      out.print(USAGE);
      return 2;
    }
    return new LongRun(options, out).run() ? 0 : 1;
  }
}
