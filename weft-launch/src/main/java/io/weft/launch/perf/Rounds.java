// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import io.weft.launch.perf.machine.HostFacts;
import io.weft.launch.perf.process.PerfException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Runs contestants in turn, A B A B …, so that what else happens on the machine meets all of them.
/// With a limit for the handover of a cache line each runs while the processors are near each
/// other, and runs again where they were moved apart meanwhile: whoever it is, whatever it took.
///
/// @param plan what each runs in each round
/// @param rounds how often, at least 1
/// @param mostHandover nanoseconds that a line may take before and after what counts; null for any
/// @param meter tells what a line takes now
/// @param longestWait until the processors are near each other
/// @param progress hears a line before each round; called on the running thread
record Rounds(
    Plan plan,
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
  List<Measurement> run(List<Entrant> entrants, HostFacts host) throws InterruptedException {
    List<List<Round>> ran = new ArrayList<>();
    entrants.forEach(e -> ran.add(new ArrayList<>()));
    for (int round = 1; round <= rounds; round++) {
      for (int e = 0; e < entrants.size(); e++) {
        String words = "round %d of %d: %s".formatted(round, rounds, entrants.get(e).name());
        progress.accept(words);
        ran.get(e).add(round(entrants.get(e), words));
      }
    }
    return ran.stream().flatMap(of -> measurements(of, host).stream()).toList();
  }

  private Round round(Entrant entrant, String words) throws InterruptedException {
    if (mostHandover == null) {
      return new Round(meter.nanos(), 0, entrant.contestant().round());
    }
    for (int moved = 0; moved < MOST_TRIES; moved++) {
      int before = handoverWhenNear(mostHandover);
      RankReport report = entrant.contestant().round();
      Integer after = meter.nanos();
      if (after != null && after <= mostHandover) {
        return new Round(before, moved, report);
      }
      progress.accept(
          "%s, again: a cache line took %d ns before and %s after"
              .formatted(words, before, after == null ? "too long" : after + " ns"));
    }
    throw new PerfException.Failed(
        "%s: the processors were moved apart in each of %d tries; give a larger --handover"
            .formatted(words, MOST_TRIES));
  }

  private int handoverWhenNear(int most) throws InterruptedException {
    long end = System.nanoTime() + longestWait.toNanos();
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

  private List<Measurement> measurements(List<Round> ofOne, HostFacts host) {
    List<Measurement> measurements = new ArrayList<>();
    Integer moved =
        mostHandover == null ? null : ofOne.stream().mapToInt(Round::moved).reduce(0, Integer::sum);
    for (int c = 0; c < plan.cases().size(); c++) {
      int index = c;
      measurements.add(
          Measurement.of(
              plan,
              plan.cases().get(c),
              ofOne.getFirst().report().peer(),
              ofOne.stream().map(round -> round.report().samples().get(index)).toList(),
              new Measurement.Handovers(handovers(ofOne), moved),
              host));
    }
    return measurements;
  }

  /// Of all rounds, if each could tell.
  private static @Nullable List<Integer> handovers(List<Round> ofOne) {
    List<Integer> told = ofOne.stream().map(Round::handover).filter(Objects::nonNull).toList();
    return told.size() < ofOne.size() ? null : told;
  }

  /// What a contestant said, how far the processors were from each other just before, and how often
  /// it had run in vain because they were moved.
  private record Round(@Nullable Integer handover, int moved, RankReport report) {}

  /// See `Handover.nanos`.
  interface Meter {

    /// Null where there are no two processors.
    @Nullable Integer nanos() throws InterruptedException;
  }

  /// A contestant and the name it was asked for by.
  record Entrant(String name, Peer.Contestant contestant) {}
}
