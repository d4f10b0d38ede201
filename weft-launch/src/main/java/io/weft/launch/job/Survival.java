// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.io.PrintStream;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/// The wait for a job that goes on without the ranks that it loses: what each loss was, and what
/// the job came to. One thread.
final class Survival {

  private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");
  private static final Duration DRAIN = Duration.ofMillis(500);
  private static final long LOOK_MILLIS = 1000;

  private final List<RankProcess> ranks;
  private final BlockingQueue<RankProcess> ended;
  private final PrintStream err;
  private final List<RankProcess> lost = new ArrayList<>();
  private int running;
  private boolean done;

  /// @param ended brings each rank once it has ended
  Survival(List<RankProcess> ranks, BlockingQueue<RankProcess> ended, PrintStream err) {
    this.ranks = List.copyOf(ranks);
    this.ended = ended;
    this.err = err;
    this.running = ranks.size();
  }

  /// Waits until all ranks have ended. Returns 0 if one of them has ended well, else the exit code
  /// of the last.
  int await(BooleanSupplier interrupted) throws InterruptedException {
    while (running > 0) {
      RankProcess rank = ended.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      if (rank != null) {
        running--;
        rank.drain(DRAIN);
        if (rank.status().code() == 0) {
          done = true;
        } else if (!interrupted.getAsBoolean()) {
          lose(rank);
        }
      } else if (done) {
        endStopped();
      }
    }
    if (done || interrupted.getAsBoolean()) {
      if (!lost.isEmpty()) {
        err.println("weft: the job is done, without " + words());
      }
      return 0;
    }
    err.println("weft: the job failed: no rank has ended well: " + words());
    return lost.getLast().status().code();
  }

  private void lose(RankProcess rank) {
    lost.add(rank);
    err.println(
        "weft: "
            + rank.describe()
            + " was lost ("
            + rank.status()
            + ") at "
            + LocalTime.now(ZoneId.systemDefault()).format(CLOCK)
            + (running == 0
                ? "; no rank is left"
                : "; the job goes on with " + running + (running == 1 ? " rank" : " ranks")));
    List<String> last = rank.lastLines();
    if (!last.isEmpty()) {
      err.println("weft: its last output:");
      last.forEach(line -> err.println("  | " + line));
    }
  }

  /// A rank that is stopped ends never by itself; the others have gone on without it.
  private void endStopped() {
    for (RankProcess rank : ranks) {
      if (rank.fate().stopped()) {
        err.println("weft: " + rank.describe() + " is stopped, and the others are done; ending it");
        rank.kill();
      }
    }
  }

  private String words() {
    return lost.stream()
        .map(rank -> rank.describe() + " (" + rank.status() + ")")
        .collect(Collectors.joining(", "));
  }
}
