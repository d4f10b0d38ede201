// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.FusionRules;
import io.weft.collective.choice.RankLayout;
import io.weft.dataparallel.fusion.FusionPlan;
import io.weft.dataparallel.fusion.SumOrder;
import io.weft.testkit.sim.cost.CostModel;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The cost of an allreduce of the data-parallel layer: the ranks of a host combine over its bus
/// before and after the exchange between hosts, for which the rule table chooses the algorithm.
final class AllreduceCost {

  /// The rate at which a processor adds or copies.
  static final double HOST_BYTES_PER_SECOND = 10e9;

  private static final Duration CYCLE = Duration.ofNanos(2_000);

  private final PlanRanks ranks;
  private final boolean oneSided;
  private final List<Integer> places;
  private final CostModel wire;
  private final CostModel processor;
  private final AlgorithmTable table = Algorithms.table(Optional.empty());

  AllreduceCost(PlanLink link, PlanRanks ranks) {
    WeftConfig config = WeftConfig.load();
    this.ranks = ranks;
    this.oneSided = link.isOneSided();
    this.places = ranks.places();
    this.wire = CostModel.of(link.port(), CYCLE, config);
    this.processor = CostModel.of(link.processor(), Duration.ZERO, config);
  }

  /// The cost of one allreduce.
  ///
  /// @param nanos duration
  /// @param processorNanos processor time of each rank
  record Transfer(double nanos, double processorNanos) {}

  FusionPlan.Rules rules() {
    RankLayout layout = RankLayout.of(places, false, oneSided);
    return new FusionPlan.Rules(
        table.fusionRules(FusionRules.Subject.FUSION, layout)::shares,
        table.fusionRules(FusionRules.Subject.MIXING, layout)::shares);
  }

  Transfer allreduce(long bytes) {
    int local = ranks.local();
    double within = 2.0 * (local - 1) / local * bytes / HOST_BYTES_PER_SECOND * 1e9;
    int hosts = ranks.hosts();
    if (hosts == 1) {
      return new Transfer(within, within);
    }
    String algorithm =
        Algorithms.forAllreduce(table, bytes, places, oneSided, SumOrder.options("gradient"))
            .algorithm();
    // With recursive doubling every rank sends the whole tensor, otherwise its part of the tensor.
    boolean whole = algorithm.equals("recursive-doubling");
    double exchanged =
        ClampedDuration.nanos(wire.allreduce(algorithm, hosts, whole ? local * bytes : bytes));
    long own = whole ? bytes : bytes / local;
    double moved = 2.0 * ClampedDuration.nanos(processor.allreduce(algorithm, hosts, own));
    double added = own / HOST_BYTES_PER_SECOND * 1e9;
    return new Transfer(within + exchanged, within + moved + added);
  }
}
