// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.transport.limit.ClampedDuration;
import java.io.PrintStream;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The wait for a job that continues after the loss of dispensable ranks. It reports each loss and
/// the outcome of the job. One thread.
final class ElasticWait {

  private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");
  private static final Duration DRAIN = Duration.ofMillis(500);

  private static final int MOST_NAMED = 6;
  private static final String NO_MAJORITY = "which is no majority";

  private final List<RankProcess> ranks;
  private final BlockingQueue<RankProcess> ended;
  private final Set<Integer> dispensable;
  private final PrintStream err;
  private final StoppedRanks stopped;
  private final Duration leaving;
  private final List<RankProcess> settled = new ArrayList<>();
  private final List<RankProcess> lost = new ArrayList<>();

  /// The ranks that the launcher ended because they could not contribute to another outcome.
  private final Set<RankProcess> given = new HashSet<>();

  private final Restart restart;
  private @Nullable RankProcess indispensable;
  private boolean done;

  @FunctionalInterface
  interface Restart {

    /// Returns the new process; empty = the rank is not started again.
    Optional<RankProcess> again(RankProcess lost);
  }

  /// @param ended receives each rank when it has ended
  /// @param plan plan with the dispensable ranks
  /// @param restart called for each lost dispensable rank
  ElasticWait(
      List<RankProcess> ranks,
      BlockingQueue<RankProcess> ended,
      JobPlan plan,
      Restart restart,
      PrintStream err) {
    this.ranks = new ArrayList<>(ranks);
    this.restart = restart;
    this.ended = ended;
    this.dispensable = plan.losses().dispensable();
    this.stopped = new StoppedRanks(plan.config());
    this.leaving = plan.losses().leaving().plus(plan.config().deadline());
    this.err = err;
  }

  /// Waits until all ranks have ended. It ends stopped ranks if no other rank runs, and needed
  /// ranks that outlive all others. Returns 0 if a dispensable rank has succeeded, else the exit
  /// code of the last lost rank. Returns empty as soon as a rank that is not dispensable has
  /// failed, which fails the job.
  ///
  /// @param interrupted returns true while the ranks are being ended from outside
  /// @param over returns true when that is done; the wait then ends
  OptionalInt await(BooleanSupplier interrupted, BooleanSupplier over) throws InterruptedException {
    long alone = System.nanoTime();
    while (settled.size() < ranks.size()) {
      RankProcess rank =
          ended.poll(ClampedDuration.millis(StoppedRanks.LOOK), TimeUnit.MILLISECONDS);
      if (rank != null) {
        rank.drain(DRAIN);
        boolean failed = rank.status().code() != 0 && !interrupted.getAsBoolean();
        if (failed && !dispensable.contains(rank.rank()) && !given.contains(rank)) {
          indispensable = rank;
          return OptionalInt.empty();
        }
        settled.add(rank);
        if (failed) {
          lose(rank);
          startAgain(rank);
        } else if (rank.status().code() == 0) {
          done |= dispensable.contains(rank.rank());
        }
        alone = System.nanoTime();
      } else if (over.getAsBoolean()) {
        break;
      } else if (!settled.isEmpty()) {
        endHopeless(System.nanoTime() - alone);
      }
    }
    if (interrupted.getAsBoolean()) {
      return OptionalInt.of(0);
    }
    if (done) {
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

  /// Returns the ranks that have ended without failing the job.
  List<RankProcess> settled() {
    return List.copyOf(settled);
  }

  /// Returns the rank that fails the job, after `await` returned empty.
  RankProcess indispensable() {
    return Objects.requireNonNull(indispensable, "no rank that is needed has failed");
  }

  private void lose(RankProcess rank) {
    lost.add(rank);
    if (given.contains(rank)) {
      return;
    }
    List<String> last = rank.lastLines();
    boolean outvoted = last.stream().anyMatch(line -> line.contains(NO_MAJORITY));
    err.println(
        "weft: "
            + rank.describe()
            + " was lost ("
            + rank.status()
            + ") at "
            + LocalTime.now(ZoneId.systemDefault()).format(CLOCK)
            + "; "
            + outlook(outvoted));
    if (!last.isEmpty()) {
      err.println("weft: its last output:");
      last.forEach(line -> err.println("  | " + line));
    }
  }

  /// Starts the rank again, unless the job is ending or no remaining rank could continue.
  private void startAgain(RankProcess rank) {
    boolean goesOn =
        running().stream().anyMatch(it -> dispensable.contains(it.rank()) && !it.fate().stopped());
    if (done || !goesOn || given.contains(rank)) {
      return;
    }
    restart.again(rank).ifPresent(ranks::add);
  }

  /// Returns the outlook of the job. Only the running ranks can decide that it continues, so this
  /// claims it only if they visibly can.
  private String outlook(boolean outvoted) {
    List<RankProcess> running = running();
    if (running.isEmpty()) {
      return "no rank is left";
    }
    boolean able =
        running.stream().anyMatch(rank -> dispensable.contains(rank.rank()))
            && running.stream().noneMatch(rank -> rank.fate().stopped());
    return able && !outvoted
        ? "the job goes on with " + running.size() + (running.size() == 1 ? " rank" : " ranks")
        : "still there: "
            + running.stream()
                .limit(MOST_NAMED)
                .map(rank -> rank.describe() + (rank.fate().stopped() ? " (stopped)" : ""))
                .collect(Collectors.joining(", "))
            + (running.size() > MOST_NAMED
                ? " and " + (running.size() - MOST_NAMED) + " more"
                : "");
  }

  private List<RankProcess> running() {
    return ranks.stream().filter(rank -> !settled.contains(rank)).toList();
  }

  /// @param nanos time since a rank ended
  private void endHopeless(long nanos) {
    List<RankProcess> running = running();
    if (stopped.areAllThatIsLeft(running)) {
      end(running, " is stopped, and no other rank is left; ending it");
    } else if (done) {
      List<RankProcess> silent = running.stream().filter(rank -> rank.fate().stopped()).toList();
      end(silent, " is stopped, and the others are done; ending it");
    }
    if (nanos > ClampedDuration.nanos(leaving)
        && running.stream().noneMatch(rank -> dispensable.contains(rank.rank()))) {
      end(
          running,
          " has not ended within "
              + leaving.toSeconds()
              + " s after those that it was there for; ending it");
    }
  }

  private void end(List<RankProcess> hopeless, String why) {
    for (RankProcess rank : hopeless) {
      if (given.add(rank)) {
        err.println("weft: " + rank.describe() + why);
      }
      rank.kill();
    }
  }

  private String words() {
    return lost.stream()
        .map(
            rank ->
                rank.describe()
                    + " ("
                    + rank.status()
                    + (given.contains(rank) ? ", by the launcher" : "")
                    + ")")
        .collect(Collectors.joining(", "));
  }
}
