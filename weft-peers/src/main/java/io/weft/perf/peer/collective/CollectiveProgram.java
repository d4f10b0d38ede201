// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.collective;

import io.weft.perf.peer.collective.CollectiveLibrary.CollectiveRank;
import io.weft.perf.peer.collective.CollectiveLibrary.MeetingPlace;
import io.weft.perf.process.ServerProcess;
import io.weft.perf.rank.RankArguments;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.rank.SizeLoop;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/// The program of each rank of a library. The first process is rank 0 and starts the others. Its
/// arguments are the number of ranks and those of `RankArguments`, or `load`, with which it only
/// loads the library.
final class CollectiveProgram {

  private final Class<?> main;
  private final CollectiveLibrary library;
  private final PrintStream out;
  private final PrintStream err;

  private CollectiveProgram(
      Class<?> main, CollectiveLibrary library, PrintStream out, PrintStream err) {
    this.main = main;
    this.library = library;
    this.out = out;
    this.err = err;
  }

  /// Runs as the `main` of its process, which ends with the exit code of a `RankProgram`.
  static void exit(String[] words, Class<?> main, CollectiveLibrary library) {
    RankProgram.exit(
        words, (list, out, err) -> new CollectiveProgram(main, library, out, err).run(list));
  }

  private void run(List<String> words) throws InterruptedException {
    String name;
    try {
      name = library.load();
    } catch (LinkageError e) {
      throw new IllegalStateException(e.toString(), e);
    }
    if (words.equals(List.of("load"))) {
      return;
    }
    List<String> plan = words.subList(1, words.size());
    // Rank 0 gets the number of ranks, the others RANK:RANKS:PLACE.
    String[] first = words.getFirst().split(":", 3);
    if (first.length == 3) {
      run(name, Integer.parseInt(first[0]), Integer.parseInt(first[1]), first[2], plan);
      return;
    }
    int ranks = Integer.parseInt(first[0]);
    List<ServerProcess> others = new ArrayList<>();
    try (MeetingPlace place = library.open(ranks)) {
      for (int r = 1; r < ranks; r++) {
        others.add(start(r, ranks, place.words(), plan));
      }
      run(name, 0, ranks, place.words(), plan);
      others.forEach(ServerProcess::close);
    }
  }

  /// Starts another rank. This process ends if that rank fails, because a library may wait for a
  /// lost rank for minutes.
  private ServerProcess start(int rank, int ranks, String place, List<String> plan) {
    List<String> words = new ArrayList<>(List.of(rank + ":" + ranks + ":" + place));
    words.addAll(plan);
    try {
      ServerProcess process = ServerProcess.start(main, words.toArray(String[]::new));
      process.onExit(
          status -> {
            if (status != 0) {
              err.println("rank %d ended with status %d".formatted(rank, status));
              Runtime.getRuntime().halt(1);
            }
          });
      return process;
    } catch (IOException e) {
      throw new IllegalStateException("cannot start rank " + rank + ": " + e.getMessage(), e);
    }
  }

  private void run(String name, int rank, int ranks, String place, List<String> plan)
      throws InterruptedException {
    RankArguments arguments = RankArguments.parse(plan);
    try (CollectiveRank here = library.join(rank, ranks, place)) {
      here.barrier();
      new SizeLoop(
              here,
              arguments,
              one -> here.allreduce(Math.toIntExact(one.bytes() / Float.BYTES)),
              err)
          .run(name, out);
      here.barrier();
    }
  }
}
