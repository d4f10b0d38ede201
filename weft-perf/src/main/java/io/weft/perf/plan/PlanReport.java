// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.perf.plan.StepPlan.Choice;
import io.weft.perf.plan.StepPlan.PlanPoint;
import io.weft.perf.report.Figure;
import io.weft.perf.report.Panel;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/// A plan in words, as figures and as curves.
///
/// @param plan the plan
/// @param batchPerRank examples of a rank in a step
/// @param perHost number of ranks on each host
/// @param atOnce number of ranks that trained at once when the step of several ranks was measured
/// @param measured the machine on which steps were measured; empty if the step was given
record PlanReport(
    StepPlan plan, int batchPerRank, int perHost, int atOnce, Optional<MeasuredHost> measured) {

  private static final double MILLI = 1e6;

  /// Returns the plan as one figure.
  Figure figure() {
    List<Figure> ranks = plan.points().stream().map(this::point).toList();
    return Figure.of("plan")
        .with("workload", plan.model().name())
        .with("link", plan.link().name())
        .with("choice", word(plan.choice()))
        .with("servers", plan.servers())
        .with("fusion", plan.fusionBytes() > 0 ? "on" : "off")
        .with("fusionBytes", plan.fusionBytes())
        .with("reason", reason())
        .with("limit", plan.limit())
        .with("tensors", plan.model().gradients().size())
        .with("bytes", plan.model().bytes())
        .with("batchPerRank", batchPerRank)
        .with("ranksPerHost", perHost)
        .with("oneRankStepMillis", millis(alone()))
        .with("busyStepMillis", millis(busy()))
        .with("spreadPercent", Figure.rounded(100 * plan.spread().share()))
        .with("ranksAtOnce", measured.isPresent() ? atOnce : null)
        .with("ranks", ranks)
        .with("simulated", true)
        .with("host", measured.orElse(null));
  }

  private Figure point(PlanPoint point) {
    double step = point.step();
    return new Figure(Map.of("ranks", point.ranks()))
        .with("choice", word(point.choice()))
        .with("stepMillis", millis(step))
        .with("efficiency", Figure.rounded(alone() / step))
        .with("samplesPerSecond", Figure.rounded(1e9 * batchPerRank * point.ranks() / step))
        .with("exposedMillis", millis(Math.max(0, step - (point.ranks() == 1 ? alone() : busy()))))
        .with("allreduceMillis", millis(point.allreduce()))
        .with("servers", point.servers())
        .with("pushPullMillis", millis(point.pushPull()))
        .with("graphServers", point.graphServers())
        .with("sendReceiveMillis", millis(point.sendReceive()));
  }

  private static String word(Choice choice) {
    return choice.name().toLowerCase(Locale.ROOT);
  }

  private double alone() {
    return ClampedDuration.nanos(plan.alone().step());
  }

  private double busy() {
    return ClampedDuration.nanos(plan.model().step());
  }

  private static double millis(double nanos) {
    return Figure.rounded(nanos / MILLI);
  }

  /// Returns the reason of the choice in one sentence.
  String reason() {
    PlanPoint last = plan.largest();
    if (last.ranks() == 1) {
      return "one rank exchanges no gradients";
    }
    String steps =
        String.format(
            Locale.ROOT,
            "on %,d ranks a step takes %s by allreduce and %s with %,d key-value server%s",
            last.ranks(),
            time(last.allreduce()),
            time(last.pushPull()),
            last.servers(),
            last.servers() == 1 ? "" : "s");
    String because =
        switch (plan.choice()) {
          case ALLREDUCE ->
              last.pushPull() < last.allreduce() ? ", which gain too little for their hosts" : "";
          case SERVERS ->
              plan.model().servedBytes() < plan.model().bytes()
                  ? ", to which a worker pushes %s instead of %s"
                      .formatted(size(plan.model().servedBytes()), size(plan.model().bytes()))
                  : "";
        };
    return steps + because + "; the limit is " + plan.limit();
  }

  /// Returns the plan as text.
  String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%s: %,d tensors, %s; a step of %,d examples takes one rank %s (%s)%s%n",
            plan.model().name(),
            plan.model().gradients().size(),
            size(plan.model().bytes()),
            batchPerRank,
            time(alone()),
            measured.isPresent() ? "measured" : "given",
            atOnce == 1
                ? ""
                : ", %s while %d ranks train at once".formatted(time(busy()), atOnce)));
    if (plan.spread().share() > 0) {
      text.append(
          String.format(
              Locale.ROOT,
              "the times of a step differ by %.1f %% (standard deviation): of %,d ranks the slowest"
                  + " is expected to take %s%n",
              100 * plan.spread().share(),
              plan.largest().ranks(),
              time((double) ClampedDuration.nanos(plan.slowest()))));
    }
    PlanLink link = plan.link();
    text.append(
        String.format(
            Locale.ROOT,
            "%s: %.0f MB/s of payload, %.1f us latency; processor time at each end: %.1f us a"
                + " message, %.2f ns a byte%n%n",
            link.name(),
            link.bytesPerSecond() / 1e6,
            ClampedDuration.nanos(link.latency()) / 1e3,
            ClampedDuration.nanos(link.perMessage()) / 1e3,
            link.nanosPerByte()));
    text.append(
        String.format(
            Locale.ROOT,
            "%7s %20s %28s %28s%n",
            "ranks",
            "allreduce",
            "push/pull, servers",
            "Send/Recv, servers"));
    for (PlanPoint point : plan.points()) {
      text.append(
          String.format(
              Locale.ROOT,
              "%,7d %12s %6.1f%% %12s %6.1f%% %,8d %12s %6.1f%% %,8d%n",
              point.ranks(),
              time(point.allreduce()),
              percent(point.allreduce()),
              time(point.pushPull()),
              percent(point.pushPull()),
              point.servers(),
              time(point.sendReceive()),
              percent(point.sendReceive()),
              point.graphServers()));
    }
    return text.append(String.format(Locale.ROOT, "%n%s%n%s%n", advice(), sentence(reason())))
        .toString();
  }

  private String advice() {
    String fusion =
        plan.fusionBytes() == 0
            ? "without fusion"
            : "with fusion in buffers of " + (plan.fusionBytes() >> 20) + " MiB";
    return switch (plan.choice()) {
      case ALLREDUCE -> "Recommended: allreduce, " + fusion + ".";
      case SERVERS ->
          String.format(
              Locale.ROOT,
              "Recommended: %,d key-value servers (--via ps) for %,d workers.",
              plan.servers(),
              plan.largest().ranks());
    };
  }

  private static String sentence(String words) {
    return words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1) + ".";
  }

  private double percent(double step) {
    return 100 * alone() / step;
  }

  private static String time(double nanos) {
    return String.format(Locale.ROOT, nanos < MILLI ? "%.3f ms" : "%,.1f ms", nanos / MILLI);
  }

  private static String size(long bytes) {
    return bytes < 1_000_000
        ? String.format(Locale.ROOT, "%.1f KB", bytes / 1e3)
        : String.format(Locale.ROOT, "%,.1f MB", bytes / 1e6);
  }

  /// Returns speed-up and efficiency over the number of ranks.
  Picture picture() {
    List<Panel.PanelCurve> times = new ArrayList<>();
    List<Panel.PanelCurve> percents = new ArrayList<>();
    List<Double> ranks = plan.points().stream().map(each -> 1.0 * each.ranks()).toList();
    times.add(new Panel.PanelCurve("ideal", ranks, ranks));
    add(times, percents, "allreduce", PlanPoint::allreduce);
    add(times, percents, "push/pull", PlanPoint::pushPull);
    add(times, percents, "Send/Recv", PlanPoint::sendReceive);
    String title = plan.model().name() + " over " + plan.link().name();
    return Panel.picture(
        List.of(
            new Panel(title, "ranks", "times one rank", true, times),
            new Panel(title, "ranks", "efficiency in percent", false, percents)),
        "simulated; the step of one rank takes %s%s; recommended: %s"
            .formatted(
                time(alone()),
                measured.isPresent() ? ", measured" : "",
                plan.choice() == Choice.ALLREDUCE ? "allreduce" : "servers"));
  }

  private void add(
      List<Panel.PanelCurve> times,
      List<Panel.PanelCurve> percents,
      String name,
      ToDoubleFunction<PlanPoint> step) {
    List<PlanPoint> points = plan.points();
    List<Double> ranks = points.stream().map(each -> 1.0 * each.ranks()).toList();
    List<Double> efficiency =
        points.stream().map(each -> percent(step.applyAsDouble(each))).toList();
    List<Double> speed =
        points.stream()
            .map(each -> each.ranks() * percent(step.applyAsDouble(each)) / 100)
            .toList();
    times.add(new Panel.PanelCurve(name, ranks, speed));
    percents.add(new Panel.PanelCurve(name, ranks, efficiency));
  }
}
