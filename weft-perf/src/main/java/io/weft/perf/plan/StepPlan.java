// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.perf.gradients.GradientModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToDoubleFunction;

/// The recommendation for a network on a link, by simulated steps. The job with the most ranks
/// decides.
///
/// @param alone the network and the time of its step on one rank alone
/// @param model the network and the time of its step on each of several ranks, without exchange
/// @param spread of the times of a step over the ranks
/// @param link of each host
/// @param points the simulated steps, by ascending number of ranks; at least one
/// @param fusionBytes bytes of the longest fusion buffer, 0 for separate gradients
/// @param limit the part of the machine that determines the time of the largest job
record StepPlan(
    GradientModel alone,
    GradientModel model,
    StepSpread spread,
    PlanLink link,
    List<PlanPoint> points,
    long fusionBytes,
    String limit) {

  /// The gain from which servers pay for their additional hosts.
  private static final double SERVERS_GAIN = 1.1;

  /// The accepted loss against as many servers as workers.
  private static final double FEWER_SERVERS_LOSS = 1.05;

  private static final double SAME = 1.01;
  private static final String COMPUTATION = "the computation";
  private static final List<Long> BUFFERS = List.of(1L << 20, 4L << 20, 16L << 20, 64L << 20);

  StepPlan {
    points = List.copyOf(points);
  }

  /// The way to exchange gradients.
  enum Choice {
    /// All ranks average gradients by allreduce.
    ALLREDUCE,
    /// Workers push gradients to key-value servers and pull weights.
    SERVERS
  }

  /// The simulated steps of one job, in nanoseconds.
  ///
  /// @param ranks number of ranks that compute
  /// @param allreduce duration of a step by allreduce
  /// @param servers number of key-value servers
  /// @param pushPull duration of a step with these servers
  /// @param graphServers number of graph servers
  /// @param sendReceive duration of a step with these servers
  record PlanPoint(
      int ranks,
      double allreduce,
      int servers,
      double pushPull,
      int graphServers,
      double sendReceive) {

    /// Returns the recommended way.
    Choice choice() {
      return ranks > 1 && SERVERS_GAIN * pushPull < allreduce ? Choice.SERVERS : Choice.ALLREDUCE;
    }

    /// Returns the duration of a step by the recommended way.
    double step() {
      return switch (choice()) {
        case ALLREDUCE -> allreduce;
        case SERVERS -> pushPull;
      };
    }
  }

  /// Simulates the jobs, whose ranks are equally fast.
  static StepPlan of(
      GradientModel alone, GradientModel model, PlanLink link, List<PlanRanks> jobs) {
    return of(alone, model, StepSpread.NONE, link, jobs);
  }

  /// Simulates the jobs. In each step, allreduce and key-value servers wait for the slowest rank;
  /// the workers of graph servers do not wait for each other.
  ///
  /// @param alone the network on one rank alone
  /// @param model the network on each of several ranks
  /// @param spread of the times of a step over the ranks
  /// @param jobs the ranks of each job, by ascending number; at least one
  static StepPlan of(
      GradientModel alone,
      GradientModel model,
      StepSpread spread,
      PlanLink link,
      List<PlanRanks> jobs) {
    PlanRanks largest = jobs.getLast();
    GradientModel slowest = slowest(model, spread, largest.count());
    long fusionBytes = fusionBytes(new StepSimulation(slowest, link, largest));
    List<PlanPoint> points = new ArrayList<>();
    for (PlanRanks job : jobs) {
      GradientModel own = job.count() == 1 ? alone : model;
      GradientModel last = slowest(own, spread, job.count());
      points.add(
          point(
              new StepSimulation(last, link, job),
              new StepSimulation(own, link, job),
              fusionBytes));
    }
    PlanPoint last = points.getLast();
    ToDoubleFunction<StepSimulation> step =
        switch (last.choice()) {
          case ALLREDUCE -> simulation -> allreduce(simulation, fusionBytes);
          case SERVERS -> simulation -> simulation.pushPull(last.servers());
        };
    String limit = limit(slowest, link, largest, step);
    double equal = step.applyAsDouble(new StepSimulation(model, link, largest));
    boolean waits = limit.equals(COMPUTATION) && SAME * equal < last.step();
    return new StepPlan(
        alone, model, spread, link, points, fusionBytes, waits ? "the slowest rank" : limit);
  }

  /// Returns the network with the time of the slowest rank.
  private static GradientModel slowest(GradientModel model, StepSpread spread, int ranks) {
    return model.taking(spread.slowest(model.step(), ranks));
  }

  /// @param simulation with the time of the slowest rank
  /// @param average with the mean time, for ranks that do not wait for each other
  private static PlanPoint point(
      StepSimulation simulation, StepSimulation average, long fusionBytes) {
    int servers = fewest(simulation, simulation::pushPull);
    int graphServers = fewest(average, average::sendReceive);
    return new PlanPoint(
        simulation.ranks().count(),
        allreduce(simulation, fusionBytes),
        servers,
        simulation.pushPull(servers),
        graphServers,
        average.sendReceive(graphServers));
  }

  private static double allreduce(StepSimulation simulation, long fusionBytes) {
    return fusionBytes == 0 ? simulation.single() : simulation.fused(fusionBytes);
  }

  /// Returns the shortest buffer that is about as fast as the fastest one, or 0 if separate
  /// gradients are faster.
  private static long fusionBytes(StepSimulation simulation) {
    Map<Long, Double> steps = new LinkedHashMap<>();
    BUFFERS.forEach(bytes -> steps.put(bytes, simulation.fused(bytes)));
    double fastest = steps.values().stream().min(Comparator.naturalOrder()).orElseThrow();
    return SAME * simulation.single() < fastest
        ? 0
        : steps.entrySet().stream()
            .filter(each -> each.getValue() <= SAME * fastest)
            .findFirst()
            .orElseThrow()
            .getKey();
  }

  /// Returns the smallest number of servers that is about as fast as a server for each worker.
  private static int fewest(StepSimulation simulation, IntToDoubleFunction step) {
    double best = step.applyAsDouble(simulation.ranks().count());
    int servers = 1;
    while (step.applyAsDouble(servers) > FEWER_SERVERS_LOSS * best) {
      servers++;
    }
    return servers;
  }

  /// Returns the part without which the step would be shortest.
  private static String limit(
      GradientModel model, PlanLink link, PlanRanks ranks, ToDoubleFunction<StepSimulation> step) {
    Map<String, PlanLink> without = new LinkedHashMap<>();
    without.put("the speed of the link", link.faster());
    without.put("the processors that move bytes", link.withoutProcessors());
    without.put("the latency of the link", link.withoutLatency());
    String limit = COMPUTATION;
    double least = step.applyAsDouble(new StepSimulation(model, link, ranks)) / SAME;
    for (Map.Entry<String, PlanLink> each : without.entrySet()) {
      double nanos = step.applyAsDouble(new StepSimulation(model, each.getValue(), ranks));
      if (nanos < least) {
        least = nanos;
        limit = each.getKey();
      }
    }
    return limit;
  }

  PlanPoint largest() {
    return points.getLast();
  }

  /// Returns the expected time of the slowest rank of the largest job, without exchange.
  Duration slowest() {
    return spread.slowest(model.step(), largest().ranks());
  }

  Choice choice() {
    return largest().choice();
  }

  /// Returns the recommended number of key-value servers, 0 for an allreduce.
  int servers() {
    return switch (choice()) {
      case ALLREDUCE -> 0;
      case SERVERS -> largest().servers();
    };
  }
}
