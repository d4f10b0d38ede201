// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.perf.rank.RankArguments.RankCase;
import java.io.PrintStream;
import java.util.List;

/// The program of one rank that measures a collective. It takes `RankArguments`. Rank 0 prints the
/// report that `RankReport` reads.
public final class PerfRank {

  private PerfRank() {}

  /// Exits with 0, with 1 if the job failed, with 2 for wrong arguments.
  public static void main(String[] arguments) {
    RankProgram.exit(arguments, PerfRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    RankArguments arguments = RankArguments.parse(words);
    try (Weft weft = Weft.init()) {
      RankGroup ranks = RankGroup.of(weft.communicator());
      new SizeLoop(
              ranks,
              arguments,
              one -> Work.of(arguments.benchmark(), bench(weft, arguments, one)),
              err)
          .run("weft", out);
    }
  }

  private static Bench bench(Weft weft, RankArguments arguments, RankCase one) {
    CaseTensors tensors = tensors(weft, arguments);
    int ranks = weft.size();
    return new Bench(
        weft.communicator(),
        CollectiveOptions.named("perf/" + arguments.benchmark() + "/" + one.bytes()),
        new Tiles(tensors.arena(), ranks * (ranks + 1) / 2),
        tensors,
        one.bytes());
  }

  /// Returns tensors in the memory that the settings choose: `own` or `private`.
  private static CaseTensors tensors(Weft weft, RankArguments arguments) {
    return arguments.settings().contains("own")
        ? CaseTensors.of(weft)
        : CaseTensors.ofThisProgram();
  }
}
