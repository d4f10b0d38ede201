// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.FusionRules;
import io.weft.collective.choice.RankLayout;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.dataparallel.fusion.FusionPlan;
import io.weft.dataparallel.fusion.SumOrder;
import io.weft.dataparallel.negotiation.ReadyTensor;
import io.weft.perf.gradients.GradientModel.ModelGradient;
import io.weft.perf.report.Figure;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.sim.cost.CostModel;
import io.weft.testkit.sim.network.SimLink;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// A step of a model on many ranks in simulated time. The decisions are made by the code of a real
/// job: the tensors of a buffer (`FusionPlan`), the order of the sum over ranks (`SumOrder`), and a
/// buffer's algorithm for this order, these ranks and hosts (`AlgorithmSelection`). A formula
/// (`CostModel`) yields the times. It assumes four ranks on each host, which combine at 10 GB/s
/// before and after the exchange between hosts, equally fast ranks, and two buffers in flight, one
/// of them on the wire.
///
/// @param model the model
/// @param gbit speed of a host's link in each direction in gigabits a second
/// @param transport "tcp" or "rdma"
public record GradientsSimulation(GradientModel model, double gbit, String transport) {

  /// The network of the published figures [HVD18 figures 6, 7].
  public static final double PUBLISHED_GBIT = 25;

  static final int RANKS_PER_HOST = 4;

  /// The rate of combining on a host over its bus.
  private static final double HOST_BYTES_PER_SECOND = 10e9;

  /// The usable part of a TCP link. Each message takes processor time in the kernel, and one core
  /// copies about 2 GB/s twice. An RDMA device needs neither.
  private static final double TCP_SHARE = 0.6;

  private static final double RDMA_SHARE = 0.94;
  private static final Duration TURN = Duration.ofNanos(2_000);
  private static final int UNDER_WAY = 2;

  /// Simulates a step on `ranks` ranks.
  public Figure step(int ranks, boolean isFused) {
    double nanos = ranks == 1 ? computeNanos() : isFused ? fused(ranks) : single(ranks);
    var carrier = new GradientsFigures.Carrier(ranks, transport, gbit);
    return GradientsFigures.of("weft", model, isFused, carrier, nanos / 1e3)
        .with("simulated", true);
  }

  private double computeNanos() {
    return ClampedDuration.nanos(model.forward().plus(model.backward()));
  }

  private double readyAt(ModelGradient gradient) {
    return ClampedDuration.nanos(model.forward())
        + gradient.ready() * ClampedDuration.nanos(model.backward());
  }

  /// Simulates fusion. A round of negotiation includes the gradients that are ready by its end. A
  /// buffer is sent when the wire is free.
  private double fused(int ranks) {
    var network = new Wire(ranks);
    long threshold = DataParallelOptions.of(WeftConfig.load()).fusionThreshold();
    double round = network.negotiation();
    Deque<Double> underWay = new ArrayDeque<>();
    double now = 0;
    double wireFree = 0;
    List<ModelGradient> all = model.gradients();
    for (int next = 0; next < all.size(); ) {
      now = Math.max(now, readyAt(all.get(next))) + round;
      List<ReadyTensor> ready = new ArrayList<>();
      for (; next < all.size() && readyAt(all.get(next)) <= now; next++) {
        ready.add(ready(all.get(next)));
      }
      for (FusionPlan.Batch batch : FusionPlan.of(ready, threshold, network.rules())) {
        if (underWay.size() == UNDER_WAY) {
          now = Math.max(now, underWay.removeFirst());
        }
        double copied = batch.isFused() ? 1e9 * batch.bytes() / HOST_BYTES_PER_SECOND : 0;
        wireFree = Math.max(wireFree, now + copied) + network.allreduce(batch.bytes());
        underWay.addLast(wireFree + copied);
      }
    }
    return Math.max(computeNanos(), underWay.isEmpty() ? 0 : underWay.getLast());
  }

  private static ReadyTensor ready(ModelGradient gradient) {
    return new ReadyTensor(
        gradient.name(),
        new TensorSignature(
            Collective.ALLREDUCE,
            0,
            DType.FLOAT32,
            Shape.of(gradient.elements()),
            ReduceOp.AVERAGE,
            TensorSignature.Scaling.NONE,
            0,
            TensorSignature.Group.NONE));
  }

  /// Simulates the reduction of one tensor at a time.
  private double single(int ranks) {
    var network = new Wire(ranks);
    double wireFree = 0;
    for (ModelGradient gradient : model.gradients()) {
      wireFree = Math.max(wireFree, readyAt(gradient)) + network.allreduce(gradient.bytes());
    }
    return Math.max(computeNanos(), wireFree);
  }

  /// The cost of an allreduce between these ranks.
  private final class Wire {

    private final int ranks;
    private final int hosts;
    private final CostModel cost;
    private final List<Integer> places;
    private final boolean oneSided;
    private final AlgorithmTable table = Algorithms.table(Optional.empty());

    Wire(int ranks) {
      this.ranks = ranks;
      this.hosts = (ranks + RANKS_PER_HOST - 1) / RANKS_PER_HOST;
      boolean kernel = transport.equals("tcp");
      this.oneSided = !kernel;
      this.places = IntStream.range(0, ranks).map(rank -> rank / RANKS_PER_HOST).boxed().toList();
      SimLink link =
          SimLink.of(
              Duration.ofNanos(kernel ? 25_000 : 2_500),
              gbit * 1e9 / 8 * (kernel ? TCP_SHARE : RDMA_SHARE),
              Duration.ofNanos(kernel ? 5_000 : 300));
      cost = CostModel.of(link, TURN, WeftConfig.load());
    }

    FusionPlan.Rules rules() {
      var layout = RankLayout.of(places, false, oneSided);
      return new FusionPlan.Rules(
          bytes -> true, table.fusionRules(FusionRules.Subject.MIXING, layout)::shares);
    }

    double negotiation() {
      return allreduce(model.gradients().size());
    }

    /// Returns the cost of an allreduce within each host, then between the hosts, which have one
    /// link each.
    double allreduce(long bytes) {
      int local = Math.min(ranks, RANKS_PER_HOST);
      double within = 2.0 * (local - 1) / local * bytes / HOST_BYTES_PER_SECOND * 1e9;
      if (hosts == 1) {
        return within;
      }
      String algorithm =
          Algorithms.forAllreduce(table, bytes, places, oneSided, SumOrder.options("gradient"))
              .algorithm();
      // With recursive doubling every rank sends the whole tensor, otherwise its part of the
      // tensor.
      long carried = algorithm.equals("recursive-doubling") ? local * bytes : bytes;
      return within + ClampedDuration.nanos(cost.allreduce(algorithm, hosts, carried));
    }
  }
}
