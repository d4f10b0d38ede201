// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.agent.AgentConfig;
import io.weft.cluster.SecureMode;
import io.weft.collective.CollectiveConfig;
import io.weft.perf.experiment.Contestant;
import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.report.Figure;
import io.weft.perf.report.Panel;
import io.weft.perf.report.RankReport;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.TransferQueue;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `weft perf wide-deep-traffic`: the step rate of many workers.
@Command(
    name = "wide-deep-traffic",
    mixinStandardHelpOptions = true,
    description = {
      "Measures the traffic of wide-and-deep training with many workers: in each step a worker"
          + " receives hundreds of small tensors from parameter servers, computes (a pause), and"
          + " sends equally many gradients back. The workers are light and share a process; each"
          + " server is a process. Weft runs twice: with one request for many receives ('weft')"
          + " and with one request for each receive ('weft single').",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf wide-deep-traffic --workers 100",
      "  weft perf wide-deep-traffic --workers 1,10,100 --peer grpc --plot curve.svg --json"
          + " t.jsonl",
      "  weft perf wide-deep-traffic --rounds 0 --simulated traffic.jsonl --plot simulated.svg",
      "",
      "Measured and simulated figures: docs/measuring.md"
    })
public final class TrafficCommand extends Experiment {

  private static final String BENCHMARK = "wide-deep-traffic";
  private static final long DIRECT_BYTES = 1L << 30;

  private static final int MOST_ROUNDS = 1000;

  @Option(
      names = "--workers",
      paramLabel = "LIST",
      split = ",",
      defaultValue = "1,10,50,100",
      description = "numbers of workers (default: ${DEFAULT-VALUE})")
  private List<Integer> workers = List.of();

  @Option(
      names = "--servers",
      paramLabel = "N",
      defaultValue = "10",
      description = "parameter servers, each in one process (default: ${DEFAULT-VALUE})")
  private int servers;

  @Option(
      names = "--tensors",
      paramLabel = "N",
      defaultValue = "300",
      description =
          "tensors that a step receives, and gradients that it sends"
              + " (default: ${DEFAULT-VALUE})")
  private int tensors;

  @Option(
      names = "--bytes",
      paramLabel = "N",
      defaultValue = "256",
      description = "bytes of each tensor and gradient (default: ${DEFAULT-VALUE})")
  private int bytes;

  @Option(
      names = "--compute",
      paramLabel = "US",
      defaultValue = "20000",
      description = "microseconds that a worker computes in a step (default: ${DEFAULT-VALUE})")
  private long computeMicros;

  @Mixin private CarrierOptions carrier = new CarrierOptions();

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description = "system to compare with: grpc (grpc-java, a call for each tensor)")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--ablation",
      description =
          "measure Weft with and without fused requests, tensors inside messages, a queue without"
              + " locks and polling before a thread yields: sixteen contestants, whose names list"
              + " the parts that they lack")
  private boolean ablation;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "interleaved rounds; 0 skips measuring (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--warm-up",
      paramLabel = "MS",
      defaultValue = "2000",
      description =
          "milliseconds of untimed traffic of each case, five times that before the first"
              + " (default: ${DEFAULT-VALUE})")
  private long warmUpMillis;

  @Option(
      names = "--window",
      paramLabel = "MS",
      defaultValue = "5000",
      description = "milliseconds for which each case is measured (default: ${DEFAULT-VALUE})")
  private long windowMillis;

  @Option(
      names = "--simulated",
      paramLabel = "FILE",
      description = "also draw the output of 'tools/simulate traffic --json'")
  private @Nullable Path simulated;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw the curves; FILE ends in .svg or .png")
  private @Nullable Path plot;

  /// A part of the transfers that `--ablation` removes, or Weft without some parts.
  ///
  /// @param name of the part, or of the contestant
  /// @param settings remove the parts
  record Part(String name, Map<String, String> settings) {}

  private static final List<Part> PARTS =
      List.of(
          new Part("fused", Map.of(RendezvousConfig.REQUESTS.variable(), "single")),
          new Part("eager", Map.of(CollectiveConfig.EAGER_BYTES.variable(), "8")),
          new Part(
              "lock-free",
              Map.of(RendezvousConfig.QUEUE.variable(), TransferQueue.LOCKED.toString())),
          new Part("polling", Map.of(AgentConfig.SPIN.variable(), "0")));

  /// For picocli.
  public TrafficCommand() {}

  @Override
  protected @Nullable Path plot() {
    return plot;
  }

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    TrafficPlan plan = plan();
    List<Figure> unused = simulatedFigures();
    MeasuredHost host = MeasuredHost.here();
    List<ContestantRounds> ran = output.rounds("", rounds, contestants(plan));
    List<Figure> figures = new ArrayList<>();
    for (int count : plan.workers()) {
      ran.forEach(each -> figures.add(figure(plan, count, each, host)));
    }
    output.add(figures, table(figures));
  }

  private TrafficPlan plan() {
    within("--rounds", rounds, 0, MOST_ROUNDS);
    if (rounds == 0 && simulated == null) {
      throw new IllegalArgumentException("--rounds: 0 measures nothing; give --simulated");
    }
    for (String peer : peers) {
      if (!peer.equals("grpc")) {
        throw new IllegalArgumentException("--peer: unknown peer '" + peer + "'; allowed: grpc");
      }
    }
    return new TrafficPlan(
        servers,
        tensors,
        bytes,
        Duration.ofNanos(computeMicros * 1000),
        Duration.ofMillis(warmUpMillis),
        Duration.ofMillis(windowMillis),
        workers.stream().distinct().sorted().toList());
  }

  private List<Figure> simulatedFigures() {
    return simulated == null ? List.of() : Figure.simulated(simulated, "traffic", BENCHMARK);
  }

  private List<Contestant> contestants(TrafficPlan plan) {
    List<Contestant> all = new ArrayList<>();
    if (ablation) {
      for (int lacks = 0; lacks < 1 << PARTS.size(); lacks++) {
        Part without = without(lacks);
        all.add(weft(plan, without.name(), without.settings()));
      }
    } else {
      all.add(weft(plan, "weft", Map.of(RendezvousConfig.REQUESTS.variable(), "fused")));
      all.add(weft(plan, "weft single", PARTS.getFirst().settings()));
    }
    if (!peers.isEmpty()) {
      List<String> command = new JavaProgram(GrpcTraffic.class).command(plan.words());
      all.add(
          new Contestant(
              "grpc",
              () ->
                  RankReport.parse(
                      Contestant.output("peer grpc", command, Map.of(), limit()), plan.keys())));
    }
    return all;
  }

  /// Returns the name and the settings of Weft without some parts.
  ///
  /// @param lacks a bit for each missing part
  static Part without(int lacks) {
    StringBuilder name = new StringBuilder("weft");
    Map<String, String> settings = new HashMap<>();
    for (int i = 0; i < PARTS.size(); i++) {
      if ((lacks >> i & 1) != 0) {
        name.append(" -").append(PARTS.get(i).name());
        settings.putAll(PARTS.get(i).settings());
      }
    }
    return new Part(name.toString(), Map.copyOf(settings));
  }

  private Contestant weft(TrafficPlan plan, String name, Map<String, String> settings) {
    LocalRanks ranks =
        new LocalRanks(TrafficRank.class, plan.ranks(), DIRECT_BYTES, settings).patient();
    String transport = carrier.transport();
    SecureMode secure = carrier.secure();
    return new Contestant(
        name,
        () ->
            RankReport.parse(ranks.run(transport, secure, plan.words(), limit()), plan.keys())
                .named(name));
  }

  /// Summarizes the rounds of one contestant for one number of workers by medians.
  private Figure figure(TrafficPlan plan, int count, ContestantRounds ran, MeasuredHost host) {
    String key = "" + count;
    return Figure.of(BENCHMARK)
        .with("peer", ran.peer())
        .with("simulated", false)
        .with("transport", ran.name().equals("grpc") ? "tcp" : carrier.transport())
        .with("workers", count)
        .with("servers", plan.servers())
        .with("tensors", plan.tensors())
        .with("bytes", plan.bytes())
        .with("computeMicros", ClampedDuration.nanos(plan.compute()) / 1000)
        .with("stepsPerSecond", Figure.rounded(ran.median(key, "stepsPerSecond")))
        .with("p50Millis", Figure.rounded(ran.median(key, "p50Millis")))
        .with("p99Millis", Figure.rounded(ran.median(key, "p99Millis")))
        .with("requestsPerStep", Figure.rounded(ran.median(key, "requestsPerStep")))
        .with(
            "roundStepsPerSecond",
            ran.numbers(key, "stepsPerSecond").stream().map(Figure::rounded).toList())
        .with("checked", ran.checked(key))
        .with("host", host);
  }

  /// Returns a table with one line for each number of workers and each contestant, or nothing
  /// without figures.
  private static String table(List<Figure> figures) {
    if (figures.isEmpty()) {
      return "";
    }
    Figure first = figures.getFirst();
    StringBuilder text = new StringBuilder();
    text.append(
        "%s, %d servers, %d x %d B each way a step, %s us of computation; %s%n"
            .formatted(
                BENCHMARK,
                first.integer("servers"),
                first.integer("tensors"),
                first.integer("bytes"),
                first.text("computeMicros"),
                ((MeasuredHost) first.value("host")).words()));
    text.append(
        "%8s  %-36s %10s %10s %10s %10s %12s%n"
            .formatted("workers", "", "steps/s", "of Weft", "p50 ms", "p99 ms", "requests"));
    Figure weft = first;
    for (Figure figure : figures) {
      weft = figure.text("peer").equals("weft") ? figure : weft;
      text.append(
          String.format(
              Locale.ROOT,
              "%8d  %-36s %10.1f %10.3f %10.3f %10.3f %12.1f%s%n",
              figure.integer("workers"),
              figure.text("peer") + " over " + figure.text("transport"),
              figure.number("stepsPerSecond"),
              figure.number("stepsPerSecond") / weft.number("stepsPerSecond"),
              figure.number("p50Millis"),
              figure.number("p99Millis"),
              figure.number("requestsPerStep"),
              figure.isWrong() ? "  WRONG RESULT" : ""));
    }
    return text.toString();
  }

  /// Returns the step rate and the median time of a step over the number of workers, measured and
  /// simulated.
  @Override
  protected Optional<Picture> picture(List<Figure> measured) {
    List<Figure> drawn = new ArrayList<>(measured);
    drawn.addAll(simulatedFigures());
    if (drawn.isEmpty()) {
      return Optional.empty();
    }
    Figure first = drawn.getFirst();
    String what =
        "%s: %s servers, %s x %s B"
            .formatted(
                BENCHMARK, first.text("servers"), first.text("tensors"), first.text("bytes"));
    List<Panel> panels = new ArrayList<>();
    panels.add(panel(what, "steps / s of all workers", true, drawn, "stepsPerSecond"));
    if (!measured.isEmpty()) {
      panels.add(panel(what + ": a step", "p50, milliseconds", false, drawn, "p50Millis"));
    }
    MeasuredHost host = first.host();
    return Optional.of(
        Panel.picture(
            panels,
            host == null ? "simulated: the protocol's own code in virtual time" : host.words()));
  }

  private static Panel panel(
      String title, String up, boolean isRising, List<Figure> drawn, String name) {
    return new Panel(
        title,
        "workers",
        up,
        isRising,
        Panel.curves(
            drawn,
            TrafficCommand::curve,
            each -> each.number("workers"),
            each -> each.number(name, 0)));
  }

  private static String curve(Figure figure) {
    String peer = figure.text("peer");
    if (figure.has("transport")) {
      return peer + " over " + figure.text("transport") + ", measured";
    }
    boolean single = peer.equals("weft") && figure.text("requests").equals("single");
    return peer + (single ? " single, simulated" : ", simulated");
  }
}
