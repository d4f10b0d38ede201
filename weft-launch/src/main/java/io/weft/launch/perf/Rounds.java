// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Runs contestants in turn, A B A B …, so that what else happens on the machine meets all of them.
///
/// @param plan what each runs in each round
/// @param rounds how often, at least 1
/// @param progress hears a line before each run; called on the running thread
record Rounds(Plan plan, int rounds, Consumer<String> progress) {

  /// The figures of each contestant, contestants in the order given, sizes ascending. Blocks.
  /// Throws `PerfException.Failed` with the contestant's own words.
  List<Measurement> run(List<Entrant> entrants, HostFacts host) throws InterruptedException {
    List<List<RankReport>> reports = new ArrayList<>();
    entrants.forEach(e -> reports.add(new ArrayList<>()));
    for (int round = 1; round <= rounds; round++) {
      for (int e = 0; e < entrants.size(); e++) {
        progress.accept("round %d of %d: %s".formatted(round, rounds, entrants.get(e).name()));
        reports.get(e).add(entrants.get(e).contestant().round());
      }
    }
    return reports.stream().flatMap(of -> measurements(of, host).stream()).toList();
  }

  private List<Measurement> measurements(List<RankReport> ofOne, HostFacts host) {
    List<Measurement> measurements = new ArrayList<>();
    for (int c = 0; c < plan.cases().size(); c++) {
      int index = c;
      measurements.add(
          Measurement.of(
              plan,
              plan.cases().get(c),
              ofOne.getFirst().peer(),
              ofOne.stream().map(report -> report.samples().get(index)).toList(),
              host));
    }
    return measurements;
  }

  /// A contestant and the name it was asked for by.
  record Entrant(String name, Peer.Contestant contestant) {}
}
