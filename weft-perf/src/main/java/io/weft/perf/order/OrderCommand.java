// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.order;

import io.weft.perf.experiment.Contestant;
import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.experiment.LinkedRanks;
import io.weft.perf.order.PartRun.Order;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.UsableTransport;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.workloads.report.MeasuredHost;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `weft perf order`: a step of a graph over two tasks, with transfers in the order of need and in
/// the order of readiness.
@Command(
    name = "order",
    mixinStandardHelpOptions = true,
    description = {
      "Measures a step of a U-Net in TensorFlow whose encoder and decoder are on two tasks. The"
          + " activation that is ready first is the longest, and the decoder needs it last. Steps"
          + " with transfers in the order of need, as in every graph, alternate with steps in the"
          + " order of readiness in the same processes. All results are compared with those of the"
          + " network in one process.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf order",
      "  weft perf order --gbit 0.5 --json order.jsonl",
      "  weft perf order --gbit 0 --transport shm"
    })
public final class OrderCommand extends Experiment {

  private static final int RANKS = 2;
  private static final long OVERHEAD_BYTES = 1L << 30;

  @Option(
      names = "--gbit",
      paramLabel = "G",
      defaultValue = "1",
      description =
          "put the tasks into two network namespaces with a link of this many gigabits a second in"
              + " each direction, which needs root; 0: on this host, without a limit (default:"
              + " ${DEFAULT-VALUE})")
  private double gbit;

  @Option(
      names = "--batch",
      paramLabel = "B",
      defaultValue = "16",
      description = "images of a step (default: ${DEFAULT-VALUE})")
  private int batch;

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "10",
      description = "timed steps in each order in a round (default: ${DEFAULT-VALUE})")
  private int steps;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "rounds, each in new processes (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private CarrierOptions carrier = new CarrierOptions();

  /// For picocli.
  public OrderCommand() {}

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    within("--batch", batch, 1, 256);
    within("--steps", steps, 1, 100_000);
    within("--rounds", rounds, 1, 1000);
    Double link = gbit == 0 ? null : Double.valueOf(gbit);
    LinkedRanks.check(link, carrier.transport());
    UsableTransport.require(carrier.transport());
    long bytes = SplitUNet.split(batch).bytes();
    LinkedRanks ranks =
        new LinkedRanks(
            new LocalRanks(OrderRank.class, RANKS, OVERHEAD_BYTES + 4 * bytes),
            carrier.transport(),
            carrier.secure(),
            link);
    List<String> words = List.of("" + batch, "" + steps, "" + limit().toSeconds());
    MeasuredHost host = MeasuredHost.here();
    ContestantRounds ran =
        output
            .rounds(
                "",
                rounds,
                List.of(new Contestant("weft", () -> RankReport.parse(ranks.run(words, limit())))))
            .getFirst();
    List<Figure> figures = new ArrayList<>();
    for (Order order : Order.values()) {
      figures.add(figure(ran, order, bytes, ranks).with("host", host));
    }
    output.add(figures, table(figures));
  }

  /// Summarizes the steps of all rounds in one order.
  ///
  /// @param bytes length of the tensors that cross in a step
  static Figure figure(ContestantRounds ran, Order order, long bytes, LinkedRanks ranks) {
    List<Long> nanos = ran.nanos(order.word());
    double mean = nanos.stream().mapToLong(Long::longValue).average().orElse(0);
    return Figure.of("order")
        .with("peer", "weft")
        .with("order", order.word())
        .with("transport", ranks.transport())
        .with("ranks", RANKS)
        .with("gbit", ranks.gbit())
        .with("bytes", bytes)
        .with("iterations", nanos.size())
        .with("rounds", ran.reports().size())
        .with("p50Micros", micros(nanos.get(nanos.size() / 2)))
        .with("p99Micros", micros(nanos.get((int) (0.99 * nanos.size()))))
        .with("minMicros", micros(nanos.getFirst()))
        .with("meanMicros", micros(mean))
        .with("checked", ran.checked(order.word()));
  }

  private static double micros(double nanos) {
    return Figure.rounded(nanos / 1e3);
  }

  /// Returns the figures as text: a row for each order and the ratio of the medians.
  static String table(List<Figure> figures) {
    Figure first = figures.getFirst();
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "U-Net over two tasks, %s%s, %.1f MB a step%n%-12s %12s %12s %12s%n",
            first.text("transport"),
            link(first),
            first.number("bytes") / 1e6,
            "order",
            "p50 us",
            "p99 us",
            "min us"));
    for (Figure figure : figures) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-12s %,12.0f %,12.0f %,12.0f%s%n",
              figure.text("order"),
              figure.number("p50Micros"),
              figure.number("p99Micros"),
              figure.number("minMicros"),
              figure.isWrong() ? "  WRONG RESULT" : ""));
    }
    return text.append(
            String.format(
                Locale.ROOT,
                "a step in the order of need takes %.2f of one in the order of readiness%n",
                first.number("p50Micros") / figures.getLast().number("p50Micros")))
        .toString();
  }

  private static @Nullable String link(Figure figure) {
    return figure.has("gbit") ? " at " + figure.text("gbit") + " Gbit/s" : "";
  }
}
