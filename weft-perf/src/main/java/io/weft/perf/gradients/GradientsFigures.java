// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.report.Figure;
import io.weft.perf.report.Panel;
import io.weft.perf.report.RankReport;
import io.weft.perf.report.RankReport.Sample;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The figures of replayed gradients, their tables and curves. The time of a step is that of its
/// slowest rank, and figures are medians of steps.
public final class GradientsFigures {
  /// The header of a log of the autotuner in CSV, which has a line for each sample.
  private static final String LOG_HEAD = "sample,fusion_threshold,segment_bytes,window,step_micros";

  private GradientsFigures() {}

  /// The ranks that exchange gradients, and their link.
  ///
  /// @param ranks number of ranks
  /// @param transport transport of the bytes
  /// @param gbit speed of the link in gigabits a second, null on one host
  public record Carrier(int ranks, String transport, @Nullable Double gbit) {}

  /// Returns the figures of one setting. The exposed time is the time of a step minus that of the
  /// computation, at least 0. The efficiency is the part of the computation, absent for a model
  /// that computes nothing.
  ///
  /// @param fusion true if tensors share buffers, null for a peer
  /// @param step duration of a step in microseconds
  public static Figure of(
      String peer, GradientModel model, @Nullable Boolean fusion, Carrier carrier, double step) {
    Objects.requireNonNull(peer, "peer");
    Objects.requireNonNull(model, "model");
    Objects.requireNonNull(carrier, "carrier");
    double compute = ClampedDuration.nanos(model.step()) / 1e3;
    return setting("gradients", peer, model, fusion, carrier)
        .with("computeMicros", compute)
        .with("stepMicros", tenths(step))
        .with("exposedMicros", tenths(Math.max(0, step - compute)))
        .with("efficiency", compute == 0 ? null : Math.round(1e4 * compute / step) / 1e4);
  }

  private static Figure setting(
      String benchmark,
      @Nullable String peer,
      GradientModel model,
      @Nullable Boolean fusion,
      Carrier carrier) {
    return Figure.of(benchmark)
        .with("peer", peer)
        .with("model", model.name())
        .with("tensors", model.gradients().size())
        .with("bytes", model.bytes())
        .with("fusion", fusion)
        .with("ranks", carrier.ranks())
        .with("transport", carrier.transport())
        .with("gbit", carrier.gbit());
  }

  /// Summarizes the rounds of Weft: one figure for each setting of fusion. `bytesPerStep` are the
  /// bytes that rank 0 sends, payload and protocol, and reads and writes in mapped memory.
  public static List<Figure> weft(
      GradientsPlan plan, Carrier carrier, ContestantRounds ran, MeasuredHost host) {
    List<Figure> figures = new ArrayList<>();
    for (boolean fused : plan.fusion()) {
      String key = GradientsPlan.word(fused);
      Sample last = ran.reports().getLast().sample(key);
      figures.add(
          of("weft", plan.gradients(), fused, carrier, medianMicros(ran, key))
              .with("bytesPerStep", tenths(last.number("bytesPerStep")))
              .with("collectivesPerStep", tenths(last.number("collectivesPerStep")))
              .with("simulated", false)
              .with("checked", ran.checked(key))
              .with("host", host));
    }
    return figures;
  }

  /// Summarizes the rounds of a peer, which reduces each tensor separately.
  public static Figure peer(
      GradientsPlan plan, Carrier carrier, ContestantRounds ran, MeasuredHost host) {
    String key = ran.reports().getFirst().samples().getFirst().key();
    return of(ran.peer(), plan.gradients(), null, carrier, medianMicros(ran, key))
        .with("simulated", false)
        .with("checked", ran.checked(key))
        .with("host", host);
  }

  /// Summarizes rounds in which steps without and with a timeline took turns in the same processes.
  /// The cost is the increase as a fraction; a negative value is due to chance. Throws
  /// `PerfException.Failed` if steps with or without recording are missing.
  public static Figure recording(
      GradientsPlan plan, Carrier carrier, ContestantRounds ran, MeasuredHost host) {
    double off = medianMicros(ran, GradientsPlan.word(false));
    double on = medianMicros(ran, GradientsPlan.word(true));
    boolean right =
        ran.reports().stream()
            .allMatch(each -> Boolean.TRUE.equals(ContestantRounds.allRight(each.samples())));
    return setting("recording", null, plan.gradients(), plan.fusion().getFirst(), carrier)
        .with("steps", ran.nanos(GradientsPlan.word(false)).size())
        .with("offMicros", off)
        .with("onMicros", on)
        .with("cost", Math.round(1e4 * (on / off - 1)) / 1e4)
        .with("checked", right)
        .with("host", host);
  }

  /// Returns the cost of recording in one line.
  public static String recordingText(Figure figure) {
    return String.format(
        Locale.ROOT,
        "recording %s, %s, %d ranks, %s: %.1f us a step without, %.1f us with: %+.1f %% (%d steps"
            + " each)%s%n",
        figure.text("model"),
        isFused(figure) ? "fused" : "single",
        figure.integer("ranks"),
        figure.text("transport"),
        figure.number("offMicros"),
        figure.number("onMicros"),
        100 * figure.number("cost"),
        figure.integer("steps"),
        wrong(figure));
  }

  /// Returns the result of an autotuner: the time of a step with the smallest sizes, with the sizes
  /// found, where 0 stands for the rule table, and with the best fusion threshold by hand.
  public static Figure tuning(
      GradientsPlan plan, Carrier carrier, RankReport report, MeasuredHost host) {
    Sample tuned = report.sample("tuned");
    Sample hand =
        report.samples().stream()
            .filter(each -> each.numbers().containsKey("threshold"))
            .min(Comparator.comparingDouble(each -> each.number("micros")))
            .orElseGet(() -> report.sample("hand"));
    return Figure.of("autotune")
        .with("model", plan.model())
        .with("ranks", carrier.ranks())
        .with("transport", carrier.transport())
        .with("startMicros", report.sample("start").number("micros"))
        .with("tunedMicros", tuned.number("micros"))
        .with("handMicros", hand.number("micros"))
        .with("handThreshold", (long) hand.number("threshold"))
        .with("seconds", (long) tuned.number("seconds"))
        .with("samples", log(report).size() - 1)
        .with("fusionThreshold", (long) tuned.number("fusionThreshold"))
        .with("segmentBytes", (long) tuned.number("segmentBytes"))
        .with("window", (long) tuned.number("window"))
        .with("host", host);
  }

  /// Returns the samples of an autotuner as lines of CSV after a header.
  public static List<String> log(RankReport report) {
    List<String> log = new ArrayList<>(List.of(LOG_HEAD));
    report.samples().stream().map(Sample::key).filter(key -> key.contains(",")).forEach(log::add);
    return log;
  }

  /// Returns the result of an autotuner as text.
  public static String tuningText(Figure figure) {
    return String.format(
        Locale.ROOT,
        "autotuning %s, %d ranks, %s: %d samples in %d s%n"
            + "  smallest sizes   %10.1f us a step%n"
            + "  found            %10.1f us: fusion threshold %d, segments %s, in flight %s%n"
            + "  best threshold   %10.1f us: %d%n"
            + "  found / best     %10.2f%n",
        figure.text("model"),
        figure.integer("ranks"),
        figure.text("transport"),
        figure.integer("samples"),
        figure.integer("seconds"),
        figure.number("startMicros"),
        figure.number("tunedMicros"),
        figure.integer("fusionThreshold"),
        orRule(figure, "segmentBytes"),
        orRule(figure, "window"),
        figure.number("handMicros"),
        figure.integer("handThreshold"),
        figure.number("tunedMicros") / figure.number("handMicros"));
  }

  private static String orRule(Figure figure, String name) {
    return figure.number(name) == 0 ? "as in the rule table" : figure.text(name);
  }

  /// Returns the table: for each model a header, its figures, and the speedup of a step by fusion.
  public static String table(List<Figure> figures) {
    StringBuilder text = new StringBuilder();
    for (String model : figures.stream().map(each -> each.text("model")).distinct().toList()) {
      List<Figure> of = figures.stream().filter(each -> each.text("model").equals(model)).toList();
      text.append(head(of.getFirst()));
      of.forEach(figure -> text.append(row(figure)));
      for (Figure single : of) {
        of.stream()
            .filter(fused -> isFusedBeside(fused, single))
            .forEach(fused -> text.append(ratio(fused, single)));
      }
    }
    return text.toString();
  }

  private static String head(Figure first) {
    return String.format(
        Locale.ROOT,
        "gradients of %s: %d tensors, %.1f MB, %.1f ms of computation a step%n"
            + "%-24s %5s %9s %12s %12s %10s %12s %12s%n",
        first.text("model"),
        first.integer("tensors"),
        first.number("bytes") / 1e6,
        first.number("computeMicros") / 1e3,
        "",
        "ranks",
        "transport",
        "step us",
        "exposed us",
        "efficiency",
        "KB a step",
        "collectives");
  }

  private static String row(Figure figure) {
    return String.format(
        Locale.ROOT,
        "%-24s %5d %9s %12.1f %12.1f %10s %12s %12s%s%n",
        figure.has("fusion")
            ? "%s, %s".formatted(figure.text("peer"), curveKind(figure))
            : figure.text("peer"),
        figure.integer("ranks"),
        figure.text("transport"),
        figure.number("stepMicros"),
        figure.number("exposedMicros"),
        optional(figure, "efficiency", "%.1f %%", 100),
        optional(figure, "bytesPerStep", "%.1f", 1e-3),
        optional(figure, "collectivesPerStep", "%.1f", 1),
        wrong(figure));
  }

  private static String curveKind(Figure figure) {
    return (isFused(figure) ? "fused" : "single")
        + (Boolean.TRUE.equals(figure.value("simulated")) ? ", simulated" : "");
  }

  private static String optional(Figure figure, String name, String format, double factor) {
    return figure.has(name) ? String.format(Locale.ROOT, format, factor * figure.number(name)) : "";
  }

  private static String wrong(Figure figure) {
    return figure.isWrong() ? "  WRONG RESULT" : "";
  }

  private static boolean isFused(Figure figure) {
    return figure.text("fusion").equals("true");
  }

  private static boolean isFusedBeside(Figure fused, Figure single) {
    return isFused(fused)
        && !isFused(single)
        && fused.integer("ranks") == single.integer("ranks")
        && fused.text("transport").equals(single.text("transport"))
        && fused.number("ranks") > 1;
  }

  private static String ratio(Figure fused, Figure single) {
    return String.format(
        Locale.ROOT,
        "%d ranks, %s: with fusion a step is %.2f times as fast as %s%n",
        fused.integer("ranks"),
        fused.text("transport"),
        single.number("stepMicros") / fused.number("stepMicros"),
        single.has("fusion") ? "without" : "that of " + single.text("peer"));
  }

  /// Returns the speedup of a job over one rank as a function of its ranks. Each model has a panel.
  public static Picture curves(List<Figure> figures) {
    List<Panel> panels = new ArrayList<>();
    for (String model : figures.stream().map(each -> each.text("model")).distinct().toList()) {
      List<Figure> of = figures.stream().filter(each -> each.text("model").equals(model)).toList();
      List<Double> ranks = of.stream().map(f -> f.number("ranks")).distinct().sorted().toList();
      List<Panel.PanelCurve> curves = new ArrayList<>();
      curves.add(new Panel.PanelCurve("ideal", ranks, ranks));
      curves.addAll(
          Panel.curves(
              of,
              each -> each.text("transport") + (isFused(each) ? ", fused" : ", single"),
              each -> each.number("ranks"),
              each ->
                  each.number("ranks") * each.number("computeMicros") / each.number("stepMicros")));
      panels.add(new Panel(model, "ranks, 4 on each host", "times one rank", true, curves));
    }
    return Panel.picture(
        panels,
        "simulated: fusion and choice of algorithms by Weft's code, times by formula; %s Gbit/s"
                .formatted(figures.getFirst().text("gbit"))
            + " between hosts");
  }

  private static double medianMicros(ContestantRounds ran, String key) {
    List<Long> nanos = ran.nanos(key);
    return nanos.get(nanos.size() / 2) / 1e3;
  }

  private static double tenths(double value) {
    return Math.round(10 * value) / 10.0;
  }
}
