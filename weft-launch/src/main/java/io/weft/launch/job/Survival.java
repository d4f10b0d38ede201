// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.io.PrintStream;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The wait for a job that goes on without some of the ranks that it may lose: what each loss was,
/// and what the job came to. One thread.
final class Survival {

  private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");
  private static final Duration DRAIN = Duration.ofMillis(500);
  private static final long LOOK_MILLIS = 1000;

  private final List<RankProcess> ranks;
  private final BlockingQueue<RankProcess> ended;
  private final Set<Integer> dispensable;
  private final PrintStream err;
  private final List<RankProcess> settled = new ArrayList<>();
  private final List<RankProcess> lost = new ArrayList<>();
  private @Nullable RankProcess indispensable;
  private boolean done;

  /// @param ended brings each rank once it has ended
  /// @param dispensable which ranks may be lost
  Survival(
      List<RankProcess> ranks,
      BlockingQueue<RankProcess> ended,
      Set<Integer> dispensable,
      PrintStream err) {
    this.ranks = List.copyOf(ranks);
    this.ended = ended;
    this.dispensable = Set.copyOf(dispensable);
    this.err = err;
  }

  /// Waits until all ranks have ended. Returns 0 if a dispensable one has ended well, else the exit
  /// code of the last; empty as soon as a rank has failed that is not dispensable, with which the
  /// job fails.
  OptionalInt await(BooleanSupplier interrupted) throws InterruptedException {
    while (settled.size() < ranks.size()) {
      RankProcess rank = ended.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      if (rank != null) {
        rank.drain(DRAIN);
        boolean failed = rank.status().code() != 0 && !interrupted.getAsBoolean();
        if (failed && !dispensable.contains(rank.rank())) {
          indispensable = rank;
          return OptionalInt.empty();
        }
        settled.add(rank);
        if (failed) {
          lose(rank);
        } else if (rank.status().code() == 0) {
          done |= dispensable.contains(rank.rank());
        }
      } else if (done) {
        endStopped();
      }
    }
    if (done || interrupted.getAsBoolean()) {
      if (!lost.isEmpty()) {
        err.println("weft: the job is done, without " + words());
      }
      return OptionalInt.of(0);
    }
    err.println(
        "weft: the job failed: no rank"
            + (dispensable.size() < ranks.size() ? " that it may lose" : "")
            + " has ended well: "
            + words());
    return OptionalInt.of(lost.getLast().status().code());
  }

  /// Ranks that have ended without the job failing of them.
  List<RankProcess> settled() {
    return List.copyOf(settled);
  }

  /// The rank of which the job fails, after `await` said so.
  RankProcess indispensable() {
    return Objects.requireNonNull(indispensable, "no rank that is needed has failed");
  }

  private void lose(RankProcess rank) {
    lost.add(rank);
    int running = ranks.size() - settled.size();
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
