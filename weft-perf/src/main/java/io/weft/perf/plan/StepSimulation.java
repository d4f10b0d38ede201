// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.dataparallel.fusion.FusionPlan;
import io.weft.dataparallel.negotiation.ReadyTensor;
import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientModel.ModelGradient;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.transport.limit.ClampedDuration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;

/// A training step on many ranks in simulated time. All ranks are equally fast. Gradients become
/// ready during the backward pass, the last layer's first. Processor time of communication delays
/// the computation of the same rank.
///
/// @param model the network and the time of its step on one rank
/// @param link of each host
/// @param ranks the ranks that compute
public record StepSimulation(GradientModel model, PlanLink link, PlanRanks ranks) {

  /// The processor time of a tensor in the data-parallel layer: 200 tensors of 4 KiB take 693 us
  /// with fusion (docs/benchmarks/2026-11-27-xeon.md).
  private static final double TENSOR_NANOS = 3_500;

  /// The size of the parts into which servers cut tensors (`kv-partition-bytes`).
  private static final long PART_BYTES = 4L << 20;

  /// The length up to which a tensor travels with others in one message (`eager-bytes` over TCP).
  private static final long SHORT_BYTES = 64L << 10;

  private static final int UNDER_WAY = 2;

  /// Throws `NullPointerException` if a component is null.
  public StepSimulation {
    Objects.requireNonNull(model, "model");
    Objects.requireNonNull(link, "link");
    Objects.requireNonNull(ranks, "ranks");
  }

  /// Returns the step's duration on one rank in nanoseconds.
  public double alone() {
    return ClampedDuration.nanos(model.step());
  }

  /// Returns the duration of a step with allreduce and tensor fusion in nanoseconds. The code of a
  /// real job chooses the buffers, the order of the sums and the algorithms. A round of negotiation
  /// includes the gradients that are ready by its end. Two buffers are in flight, one of them on
  /// the wire.
  ///
  /// @param threshold bytes of the longest buffer
  public double fused(long threshold) {
    if (ranks.count() == 1) {
      return alone();
    }
    var cost = new AllreduceCost(link, ranks);
    var computing = new ComputeTimeline(model, ranks.delay());
    AllreduceCost.Transfer round = cost.allreduce(model.gradients().size());
    FusionPlan.Rules rules = cost.rules();
    Deque<Double> underWay = new ArrayDeque<>();
    List<ModelGradient> all = model.gradients();
    double now = 0;
    double wireFree = 0;
    for (int next = 0; next < all.size(); ) {
      now = Math.max(now, computing.readyAt(all.get(next))) + round.nanos();
      double taken = round.processorNanos();
      List<ReadyTensor> ready = new ArrayList<>();
      for (; next < all.size() && computing.readyAt(all.get(next)) <= now; next++) {
        ready.add(ready(all.get(next), next));
      }
      for (FusionPlan.Batch batch : FusionPlan.of(ready, threshold, rules)) {
        if (underWay.size() == UNDER_WAY) {
          now = Math.max(now, underWay.removeFirst());
        }
        double copied =
            batch.isFused() ? 1e9 * batch.bytes() / AllreduceCost.HOST_BYTES_PER_SECOND : 0;
        AllreduceCost.Transfer transfer = cost.allreduce(batch.bytes());
        double begin = Math.max(wireFree, now + copied);
        wireFree = begin + transfer.nanos();
        taken += transfer.processorNanos() + 2 * copied + TENSOR_NANOS * batch.tensors().size();
        computing.take(begin, wireFree, taken);
        taken = 0;
        underWay.addLast(wireFree + copied);
      }
    }
    return Math.max(computing.end(), underWay.getLast());
  }

  /// @param priority grows with the place in the backward pass, as in the distributed optimizer,
  ///   because the next forward pass needs the last gradients first
  private static ReadyTensor ready(ModelGradient gradient, int priority) {
    return new ReadyTensor(
        gradient.name(),
        new TensorSignature(
            Collective.ALLREDUCE,
            0,
            DType.FLOAT32,
            Shape.of(gradient.elements()),
            ReduceOp.AVERAGE,
            TensorSignature.Scaling.NONE,
            priority,
            TensorSignature.Group.NONE));
  }

  /// Returns the duration of a step in which each gradient is reduced alone, in nanoseconds.
  public double single() {
    if (ranks.count() == 1) {
      return alone();
    }
    var cost = new AllreduceCost(link, ranks);
    var computing = new ComputeTimeline(model, ranks.delay());
    double wireFree = 0;
    for (ModelGradient gradient : model.gradients()) {
      AllreduceCost.Transfer transfer = cost.allreduce(gradient.bytes());
      double begin = Math.max(wireFree, computing.readyAt(gradient));
      wireFree = begin + transfer.nanos();
      computing.take(begin, wireFree, transfer.processorNanos());
    }
    return Math.max(computing.end(), wireFree);
  }

  /// Returns the duration of a synchronous step with key-value servers in nanoseconds. After the
  /// computation every worker pushes all gradients and pulls all weights, in parts that are spread
  /// over the servers. The slowest of the workers' and servers' links and processors determines
  /// this time. The pulls of the longest tensor begin when its pushes have arrived; pulls of the
  /// others overlap with pushes.
  ///
  /// @param servers number of servers, each on a separate host
  public double pushPull(int servers) {
    long parts = model.gradients().stream().mapToLong(each -> parts(each.servedBytes())).sum();
    double bytes = model.servedBytes();
    double slowest = loads(servers, bytes, parts, parts).slowest();
    long longest =
        model.gradients().stream().mapToLong(ModelGradient::servedBytes).max().orElseThrow();
    return alone() + 2 * latency() + slowest * (1 + longest / bytes);
  }

  private static long parts(long bytes) {
    return Math.max(1, Math.ceilDiv(bytes, PART_BYTES));
  }

  /// Returns the duration of a step with the variables of a graph on servers in nanoseconds. A
  /// worker receives all variables, computes, and sends each gradient when it is ready. Workers do
  /// not wait for each other, but servers may be slower than all workers together. Short tensors of
  /// a server share a message.
  ///
  /// @param servers number of servers, each on a separate host
  public double sendReceive(int servers) {
    long places = model.gradients().size();
    long single = model.gradients().stream().filter(each -> each.bytes() > SHORT_BYTES).count();
    double bytes = model.servedBytes();
    long messages = Math.min(servers, places) + 2 * single;
    ServerLoads loads = loads(servers, bytes, messages, places);
    double own = Math.max(loads.workerLink(), loads.workerProcessor() / 2);
    double received = 2 * latency() + own;
    var computing = new ComputeTimeline(model, ranks.delay());
    double wireFree = 0;
    for (ModelGradient gradient : model.gradients()) {
      double part = gradient.servedBytes() / bytes;
      double begin = Math.max(wireFree, computing.readyAt(gradient));
      wireFree = begin + own * part;
      computing.take(begin, wireFree, loads.workerProcessor() / 2 * part);
    }
    double worker = received + Math.max(computing.end(), wireFree + latency());
    return Math.max(worker, Math.max(loads.serverLink(), loads.serverProcessor()));
  }

  /// The time that each part of the network needs for a step of all workers, in nanoseconds: links
  /// in one direction, processors for both.
  private record ServerLoads(
      double workerLink, double workerProcessor, double serverLink, double serverProcessor) {

    double slowest() {
      return Math.max(Math.max(workerLink, workerProcessor), Math.max(serverLink, serverProcessor));
    }
  }

  /// @param bytes that a worker sends in a step, and receives
  /// @param messages that a worker sends in a step, and receives
  /// @param places number of parts that servers can share
  private ServerLoads loads(int servers, double bytes, long messages, long places) {
    double perServer = 1.0 * ranks.count() / Math.min(servers, places);
    double carried = bytes / link.bytesPerSecond() * 1e9;
    double moved =
        2 * (bytes * link.nanosPerByte() + messages * ClampedDuration.nanos(link.perMessage()));
    double added = bytes / AllreduceCost.HOST_BYTES_PER_SECOND * 1e9;
    return new ServerLoads(
        ranks.local() * carried, moved, perServer * carried, perServer * (moved + added));
  }

  private double latency() {
    return ClampedDuration.nanos(link.latency());
  }
}
