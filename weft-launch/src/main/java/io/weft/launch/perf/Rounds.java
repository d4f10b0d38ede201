// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import io.weft.launch.perf.machine.Handover;
import io.weft.launch.perf.machine.HostFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Runs contestants in turn, A B A B …, so that what else happens on the machine meets all of them.
///
/// @param plan what each runs in each round
/// @param rounds how often, at least 1
/// @param progress hears a line before each run; called on the running thread
record Rounds(Plan plan, int rounds, Consumer<String> progress) {

  /// The figures of each contestant, contestants in the order given, sizes ascending. Blocks.
  /// Throws `PerfException.Failed` with the contestant's own words.
  List<Measurement> run(List<Entrant> entrants, HostFacts host) throws InterruptedException {
    List<List<Round>> ran = new ArrayList<>();
    entrants.forEach(e -> ran.add(new ArrayList<>()));
    for (int round = 1; round <= rounds; round++) {
      for (int e = 0; e < entrants.size(); e++) {
        progress.accept("round %d of %d: %s".formatted(round, rounds, entrants.get(e).name()));
        Integer handover = Handover.nanos();
        ran.get(e).add(new Round(handover, entrants.get(e).contestant().round()));
      }
    }
    return ran.stream().flatMap(of -> measurements(of, host).stream()).toList();
  }

  private List<Measurement> measurements(List<Round> ofOne, HostFacts host) {
    List<Measurement> measurements = new ArrayList<>();
    for (int c = 0; c < plan.cases().size(); c++) {
      int index = c;
      measurements.add(
          Measurement.of(
              plan,
              plan.cases().get(c),
              ofOne.getFirst().report().peer(),
              ofOne.stream().map(round -> round.report().samples().get(index)).toList(),
              handovers(ofOne),
              host));
    }
    return measurements;
  }

  /// Of all rounds, if each could tell.
  private static @Nullable List<Integer> handovers(List<Round> ofOne) {
    List<Integer> told = ofOne.stream().map(Round::handover).filter(Objects::nonNull).toList();
    return told.size() < ofOne.size() ? null : told;
  }

  /// What a contestant said, and how far the processors were from each other just before.
  private record Round(@Nullable Integer handover, RankReport report) {}

  /// A contestant and the name it was asked for by.
  record Entrant(String name, Peer.Contestant contestant) {}
}
