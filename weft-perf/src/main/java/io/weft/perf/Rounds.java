// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.turns.TurnScheduler;
import io.weft.perf.turns.Turns;
import io.weft.transport.limit.Span;
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

/// Runs contestants in turn, A B A B …, so that what else happens on the machine meets all of them:
/// collectives part by part of each size, all else a whole round at a time. With a limit for the
/// handover of a cache line each series of turns waits until the processors are near each other,
/// and the round of all runs again where they were moved apart meanwhile.
///
/// @param plan what each runs in each round
/// @param rounds how often, at least 1
/// @param mostHandover nanoseconds that a line may take before and after what counts; null for any
/// @param meter tells what a line takes now
/// @param longestWait until the processors are near each other
/// @param progress hears a line before each round; called on the running thread
record Rounds(
    MeasuringPlan plan,
    int rounds,
    @Nullable Integer mostHandover,
    Meter meter,
    Duration longestWait,
    Consumer<String> progress) {

  private static final int MOST_TRIES = 30;
  private static final long PAUSE_MILLIS = 100;

  /// The figures of each contestant, contestants in the order given, sizes ascending. Blocks.
  /// Throws `PerfException.Failed` with the contestant's own words, or where the processors do not
  /// stay near each other for long enough; `PerfException.Missing` where nobody can tell.
  List<Measurement> run(List<RoundContestant> contestants, BenchmarkHost host)
      throws InterruptedException {
    List<Round> ran = new ArrayList<>();
    String names =
        contestants.stream().map(RoundContestant::name).collect(Collectors.joining(", "));
    for (int round = 1; round <= rounds; round++) {
      String words = "round %d of %d: %s".formatted(round, rounds, names);
      progress.accept(words);
      ran.add(round(contestants, words));
    }
    List<Measurement> measurements = new ArrayList<>();
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

  private List<Measurement> measurements(List<Round> ran, int contestant, BenchmarkHost host) {
    List<RankReport> reports = ran.stream().map(round -> round.reports().get(contestant)).toList();
    List<Integer> told = ran.stream().map(Round::handover).filter(Objects::nonNull).toList();
    Integer moved =
        mostHandover == null ? null : ran.stream().mapToInt(Round::moved).reduce(0, Integer::sum);
    Measurement.Handovers handovers =
        new Measurement.Handovers(told.size() < ran.size() ? null : told, moved);
    List<Measurement> measurements = new ArrayList<>();
    for (int c = 0; c < plan.cases().size(); c++) {
      int index = c;
      measurements.add(
          Measurement.of(
              plan,
              plan.cases().get(c),
              reports.getFirst().peer(),
              reports.stream().map(report -> report.samples().get(index)).toList(),
              handovers,
              host));
    }
    return measurements;
  }

  /// Asks between series of turns what a line takes. The first series of a collective warms up; its
  /// end does not matter.
  private final class Watch implements TurnScheduler.Interruption {

    private final List<@Nullable Integer> before = new ArrayList<>();

    @Override
    public void before(int series) throws InterruptedException {
      if (series > 2) {
        afterwards();
      }
      before.add(mostHandover == null ? meter.nanos() : handoverWhenNear(mostHandover));
    }

    /// Throws `Moved` where the processors have not stayed near.
    private void afterwards() throws InterruptedException {
      if (mostHandover != null) {
        Integer after = meter.nanos();
        if (after == null || after > mostHandover) {
          throw new Moved(before.getLast(), after);
        }
      }
    }

    /// Of the series that were timed; null where nothing was told before any.
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
    long end = System.nanoTime() + Span.nanos(longestWait);
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
          "--handover: two threads did not get two processors for %d s; leave it out"
              .formatted(longestWait.toSeconds()));
    }
    throw new PerfException.Failed(
        "--handover: for %d s no cache line went there and back within %d ns, the fastest in %d;"
                .formatted(longestWait.toSeconds(), most, least)
            + " give a larger one");
  }

  /// The processors were moved apart during a series of turns.
  private static final class Moved extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    private Moved(@Nullable Integer before, @Nullable Integer after) {
      super(
          "a cache line took %d ns before and %s after"
              .formatted(before, after == null ? "too long" : after + " ns"));
    }
  }

  /// What all contestants said, how far the processors were from each other, and how often all had
  /// run in vain because they were moved.
  private record Round(@Nullable Integer handover, int moved, List<RankReport> reports) {}

  /// See `Handover.nanos`.
  interface Meter {

    /// Null where there are no two processors.
    @Nullable Integer nanos() throws InterruptedException;
  }

  /// A contestant and the name it was asked for by.
  record RoundContestant(String name, MeasuredPeer.Contestant contestant) {}
}
