// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.cluster.SecureMode;
import io.weft.perf.report.BenchmarkHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/// Runs rounds of a plan, with Weft and a peer in turn, and returns the figures of all rounds.
///
/// @param plan the replayed plan
/// @param carrier the ranks and their link
/// @param secure the encryption of Weft's connections
/// @param limit time limit of a contestant's round
/// @param rounds number of rounds, at least 1
public record GradientsRounds(
    GradientsPlan plan,
    GradientsFigure.Carrier carrier,
    SecureMode secure,
    Duration limit,
    int rounds) {

  /// Returns one figure for each setting of fusion, and one for the peer. Throws `PerfException`.
  ///
  /// @param progress receives a line before each round
  public List<GradientsFigure> run(Optional<GradientsPeer> peer, Consumer<String> progress)
      throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    var weft = new GradientsContestant(plan, carrier, secure, limit);
    Map<Boolean, List<Long>> steps = new HashMap<>();
    Map<Boolean, StepTraffic> traffic = new HashMap<>();
    boolean right = true;
    List<Long> beside = new ArrayList<>();
    boolean besideRight = true;
    String besideName = "";
    for (int round = 1; round <= rounds; round++) {
      progress.accept("round %d of %d".formatted(round, rounds));
      GradientsReport report = weft.round();
      report.steps().forEach((on, all) -> steps.merge(on, all, GradientsRounds::joined));
      traffic.putAll(report.traffic());
      right &= report.checked();
      if (peer.isPresent()) {
        GradientsPeer.PeerRound other = peer.get().round();
        beside.addAll(other.nanos());
        besideRight &= other.checked();
        besideName = other.name();
      }
    }
    GradientModel model = plan.gradients();
    List<GradientsFigure> figures = new ArrayList<>();
    for (boolean on : plan.fusion()) {
      figures.add(
          GradientsFigure.measured(
              "weft",
              model,
              Optional.of(on),
              carrier,
              new GradientsFigure.Steps(
                  steps.getOrDefault(on, List.of()), Optional.ofNullable(traffic.get(on)), right),
              host));
    }
    if (peer.isPresent()) {
      figures.add(
          GradientsFigure.measured(
              besideName,
              model,
              Optional.empty(),
              carrier,
              new GradientsFigure.Steps(beside, Optional.empty(), besideRight),
              host));
    }
    return figures;
  }

  private static List<Long> joined(List<Long> some, List<Long> more) {
    List<Long> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }
}
