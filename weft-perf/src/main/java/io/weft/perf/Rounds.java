// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.perf.turns.TurnScheduler;
import io.weft.perf.turns.Turns;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.report.MeasuredHost;
import java.io.Serial;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Runs contestants in turn, A B A B …, so that other load on the machine affects all of them.
/// Contestants of a collective change after each part of each size, others after each round. With a
/// limit for the handover of a cache line, each series of turns waits until the processors are near
/// each other. The round of all contestants is repeated if the processors were moved apart during
/// it.
///
/// @param plan the plan of each round
/// @param rounds number of rounds, at least 1
/// @param mostHandover limit in nanoseconds of a handover before and after a valid series, null for
///   none
/// @param meter measures a handover
/// @param longestWait longest wait until the processors are near each other
/// @param progress receives a line before each round on the running thread
record Rounds(
    MeasuringPlan plan,
    int rounds,
    @Nullable Integer mostHandover,
    Meter meter,
    Duration longestWait,
    Consumer<String> progress) {

  private static final int MOST_TRIES = 30;
  private static final long PAUSE_MILLIS = 100;

  /// Returns the figures of each contestant in the given order, by ascending size. Blocks. Throws
  /// `PerfException.Failed` with the contestant's output, or if the processors do not remain near
  /// each other, and `PerfException.Missing` if a handover cannot be measured.
  List<Figure> run(List<RoundContestant> contestants, MeasuredHost host)
      throws InterruptedException {
    List<Round> ran = new ArrayList<>();
    String names =
        contestants.stream().map(RoundContestant::name).collect(Collectors.joining(", "));
    for (int round = 1; round <= rounds; round++) {
      String words = "round %d of %d: %s".formatted(round, rounds, names);
      progress.accept(words);
      ran.add(round(contestants, words));
    }
    List<Figure> measurements = new ArrayList<>();
    for (int e = 0; e < contestants.size(); e++) {
      measurements.addAll(measurements(ran, e, host));
    }
    return measurements;
  }

  private Round round(List<RoundContestant> contestants, String words) throws InterruptedException {
    for (int moved = 0; moved < MOST_TRIES; moved++) {
      Watch watch = new Watch();
      try {
        List<RankReport> reports =
            TurnScheduler.play(players(contestants), limit(contestants.size()), watch);
        watch.afterwards();
        return new Round(watch.median(), moved, reports);
      } catch (Moved apart) {
        progress.accept("%s, again: %s".formatted(words, apart.getMessage()));
      }
    }
    throw new PerfException.Failed(
        "%s: the processors were moved apart in each of %d tries; give a larger --handover"
            .formatted(words, MOST_TRIES));
  }

  private List<TurnScheduler.Player<RankReport>> players(List<RoundContestant> contestants) {
    List<TurnScheduler.Player<RankReport>> players = new ArrayList<>();
    for (RoundContestant contestant : contestants) {
      players.add(socket -> contestant.contestant().round(stage(socket, contestants.size())));
    }
    return players;
  }

  private Duration limit(int contestants) {
    return (plan.benchmark().isCollective()
            ? new MeasuredPeer.PeerSetup(Map.of(), contestants)
            : MeasuredPeer.PeerSetup.ALONE)
        .limit(plan);
  }

  private MeasuredPeer.PeerSetup stage(Path socket, int contestants) {
    return plan.benchmark().isCollective()
        ? new MeasuredPeer.PeerSetup(Map.of(Turns.VARIABLE, socket.toString()), contestants)
        : MeasuredPeer.PeerSetup.ALONE;
  }

  private List<Figure> measurements(List<Round> ran, int contestant, MeasuredHost host) {
    List<RankReport> reports = ran.stream().map(round -> round.reports().get(contestant)).toList();
    List<Integer> told = ran.stream().map(Round::handover).filter(Objects::nonNull).toList();
    Integer moved =
        mostHandover == null ? null : ran.stream().mapToInt(Round::moved).reduce(0, Integer::sum);
    PerfFigures.Handovers handovers =
        new PerfFigures.Handovers(told.size() < ran.size() ? null : told, moved);
    List<Figure> measurements = new ArrayList<>();
    for (int c = 0; c < plan.cases().size(); c++) {
      int index = c;
      measurements.add(
          PerfFigures.of(
              plan,
              plan.cases().get(c),
              reports.getFirst().peer(),
              reports.stream().map(report -> report.samples().get(index)).toList(),
              handovers,
              host));
    }
    return measurements;
  }

  /// Measures the handover between series of turns. The first series of a collective is a warm-up,
  /// so the handover at its end does not matter.
  private final class Watch implements TurnScheduler.Interruption {

    private final List<@Nullable Integer> before = new ArrayList<>();

    @Override
    public void before(int series) throws InterruptedException {
      if (series > 2) {
        afterwards();
      }
      before.add(mostHandover == null ? meter.nanos() : handoverWhenNear(mostHandover));
    }

    /// Throws `Moved` if the processors have not remained near each other.
    private void afterwards() throws InterruptedException {
      if (mostHandover != null) {
        Integer after = meter.nanos();
        if (after == null || after > mostHandover) {
          throw new Moved(before.getLast(), after);
        }
      }
    }

    /// Returns the median over the timed series, null if no handover could be measured.
    private @Nullable Integer median() {
      List<Integer> told =
          before.stream()
              .skip(before.size() > 1 ? 1 : 0)
              .filter(Objects::nonNull)
              .sorted()
              .toList();
      return told.isEmpty() ? null : told.get(told.size() / 2);
    }
  }

  private Integer handoverWhenNear(int most) throws InterruptedException {
    long end = System.nanoTime() + ClampedDuration.nanos(longestWait);
    int least = Integer.MAX_VALUE;
    do {
      Integer nanos = meter.nanos();
      if (nanos != null && nanos <= most) {
        return nanos;
      }
      least = nanos == null ? least : Math.min(least, nanos);
      Thread.sleep(PAUSE_MILLIS);
    } while (System.nanoTime() - end < 0);
    if (least == Integer.MAX_VALUE) {
      throw new PerfException.Missing(
          "--handover: two threads did not get two processors for %d s; omit it"
              .formatted(longestWait.toSeconds()));
    }
    throw new PerfException.Failed(
        "--handover: for %d s no handover took at most %d ns, the fastest took %d ns;"
                .formatted(longestWait.toSeconds(), most, least)
            + " give a larger one");
  }

  /// Signals that the processors were moved apart during a series of turns.
  private static final class Moved extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    private Moved(@Nullable Integer before, @Nullable Integer after) {
      super(
          "a cache line took %d ns before and %s after"
              .formatted(before, after == null ? "too long" : after + " ns"));
    }
  }

  /// The reports of all contestants, the handover, and the number of discarded runs of the round.
  private record Round(@Nullable Integer handover, int moved, List<RankReport> reports) {}

  /// The meter of a handover, see `Handover.nanos`.
  interface Meter {

    /// Returns the time of a handover, null without two processors.
    @Nullable Integer nanos() throws InterruptedException;
  }

  /// A contestant and its name on the command line.
  record RoundContestant(String name, MeasuredPeer.Prepared contestant) {}
}
