// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.WeftConfig;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.file.NewFile;
import io.weft.perf.experiment.Contestant;
import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.experiment.LinkedRanks;
import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientsContestant;
import io.weft.perf.gradients.GradientsFigures;
import io.weft.perf.gradients.GradientsFigures.Carrier;
import io.weft.perf.gradients.GradientsPlan;
import io.weft.perf.gradients.GradientsPlan.Purpose;
import io.weft.perf.plan.PlanLink;
import io.weft.perf.plan.PlanRanks;
import io.weft.perf.plan.StepSimulation;
import io.weft.perf.process.CProgram;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.SearchPath;
import io.weft.perf.process.UsableTransport;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `weft perf gradients`: a step of data-parallel training without its network.
@Command(
    name = "gradients",
    mixinStandardHelpOptions = true,
    description = {
      "Replays the gradients of a network through the data-parallel layer: tensors in the order of"
          + " the backward pass, each submitted at the time when a processor would have computed it"
          + " (a pause), until all averages have arrived. All ranks compare every average.",
      "",
      "With --simulate no data is moved. The code of a real job decides which tensors share a"
          + " buffer, and each buffer's algorithm and segments. A formula of latency and bandwidth"
          + " yields the times.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf gradients --model uniform --tensors 200 --bytes 4K --peer openmpi",
      "  weft perf gradients --model resnet101 --gbit 1",
      "  weft perf gradients --model resnet101 --fusion on --recording",
      "  weft perf gradients --model uniform --autotune --autotune-log samples.csv",
      "  weft perf gradients --model resnet101,inception-v3,vgg16 --simulate 1,2,4,8,16,32,64,128"
          + " --plot figures.png",
      "",
      "Measured and simulated figures: docs/measuring.md"
    })
final class GradientsCommand extends Experiment {

  /// The network of the published figures [HVD18 figures 6, 7].
  private static final double PUBLISHED_GBIT = 25;

  private static final int PUBLISHED_RANKS_PER_HOST = 4;

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      split = ",",
      defaultValue = "uniform",
      description =
          "network of the gradients: resnet101, inception-v3, vgg16, transformer-base, or uniform"
              + " with --tensors of --bytes (default: ${DEFAULT-VALUE}); several with --simulate")
  private List<String> models = List.of();

  @Option(
      names = "--tensors",
      paramLabel = "N",
      defaultValue = "200",
      description = "tensors of the model uniform (default: ${DEFAULT-VALUE})")
  private int tensors;

  @Option(
      names = "--bytes",
      paramLabel = "SIZE",
      defaultValue = "4K",
      description = "bytes of each tensor of uniform (default: ${DEFAULT-VALUE})")
  private String bytes = "4K";

  @Option(
      names = "-np",
      paramLabel = "N",
      defaultValue = "2",
      description = "ranks, 2 to 180 (default: ${DEFAULT-VALUE})")
  private int ranks;

  @Option(
      names = "--fusion",
      paramLabel = "on|off",
      split = ",",
      defaultValue = "on,off",
      description =
          "shared buffers for tensors; both settings take turns (default: ${DEFAULT-VALUE})")
  private List<String> fusion = List.of();

  @Option(
      names = "--compute",
      paramLabel = "MS",
      description =
          "milliseconds of forward and backward pass together, divided in proportion to the"
              + " multiplications of each layer (default: the time of a Tesla P100 for 64 examples;"
              + " 0 for uniform)")
  private @Nullable Long computeMillis;

  @Option(
      names = "--gbit",
      paramLabel = "G",
      description =
          "put the ranks into two network namespaces with a link of this many gigabits a second in"
              + " each direction; needs root")
  private @Nullable Double gbit;

  @Option(
      names = "--simulate",
      paramLabel = "RANKS",
      split = ",",
      description = "simulate these numbers of ranks, 4 on each host, instead of measuring")
  private List<Integer> simulated = new ArrayList<>();

  @Mixin private CarrierOptions carrier = new CarrierOptions();

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description =
          "system to compare with: openmpi (an allreduce for each tensor, sequentially; only for"
              + " uniform)")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "interleaved rounds (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description =
          "timed steps of each setting in each of 5 turns of a round (default: enough to move"
              + " 64 MiB, at least 1, at most 100)")
  private @Nullable Integer steps;

  @Option(
      names = "--autotune",
      description =
          "search the best fusion threshold, segments and segments in flight by an autotuner,"
              + " beginning with the smallest, and compare with every threshold")
  private boolean autotune;

  @Option(
      names = "--autotune-log",
      paramLabel = "FILE",
      description = "write each sample of --autotune as a line of CSV")
  private @Nullable Path autotuneLog;

  @Option(
      names = "--recording",
      description =
          "measure the cost of recording a timeline: steps without and with it take turns in the"
              + " same processes")
  private boolean recording;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw efficiency over ranks for --simulate; FILE ends in .svg or .png")
  private @Nullable Path plot;

  @Override
  protected @Nullable Path plot() {
    return plot;
  }

  @Override
  protected Optional<Picture> picture(List<Figure> measured) {
    return Optional.of(GradientsFigures.curves(measured));
  }

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    check();
    if (autotune) {
      tune(output);
    } else if (recording) {
      record(output);
    } else {
      List<Figure> figures = simulated.isEmpty() ? compare(output) : simulate();
      output.add(figures, GradientsFigures.table(figures));
    }
  }

  private void check() {
    within("-np", ranks, 2, MOST_RANKS);
    within("--rounds", rounds, 1, 1000);
    for (int each : simulated) {
      within("--simulate", each, 1, 4096);
    }
    if (models.size() > 1 && simulated.isEmpty()) {
      throw new IllegalArgumentException("--model: several only with --simulate");
    }
    LinkedRanks.check(gbit, simulated.isEmpty() ? carrier.transport() : "tcp");
    if (simulated.isEmpty()) {
      UsableTransport.require(carrier.transport());
    }
    if (autotune && !simulated.isEmpty()) {
      throw new IllegalArgumentException("--autotune measures; omit --simulate");
    }
    if (recording && (autotune || !simulated.isEmpty() || !peers.isEmpty())) {
      throw new IllegalArgumentException(
          "--recording is a separate measurement; omit --autotune, --simulate and --peer");
    }
    if (autotuneLog != null && !autotune) {
      throw new IllegalArgumentException("--autotune-log needs --autotune");
    }
    if (plot != null && simulated.isEmpty()) {
      throw new IllegalArgumentException("--plot: " + plot + " needs --simulate");
    }
    writable("--autotune-log", autotuneLog);
  }

  private List<Figure> compare(ExperimentOutput output) throws InterruptedException {
    GradientsPlan plan = plan(models.getFirst());
    MeasuredHost host = MeasuredHost.here();
    List<Contestant> contestants = new ArrayList<>(List.of(weft(plan)));
    peer(plan).ifPresent(contestants::add);
    List<ContestantRounds> ran = output.rounds("", rounds, contestants);
    List<Figure> figures =
        new ArrayList<>(GradientsFigures.weft(plan, carrier(), ran.getFirst(), host));
    ran.stream()
        .skip(1)
        .forEach(each -> figures.add(GradientsFigures.peer(plan, carrier(), each, host)));
    return figures;
  }

  private Contestant weft(GradientsPlan plan) {
    var ranksHere = new GradientsContestant(plan, carrier(), carrier.secure(), limit());
    return new Contestant("weft", ranksHere::round);
  }

  private void tune(ExperimentOutput output) throws InterruptedException {
    GradientsPlan plan = plan(models.getFirst()).tuned();
    MeasuredHost host = MeasuredHost.here();
    RankReport report =
        output.rounds("autotuning: ", 1, List.of(weft(plan))).getFirst().reports().getFirst();
    Figure figure = GradientsFigures.tuning(plan, carrier(), report, host);
    output.add(List.of(figure), GradientsFigures.tuningText(figure));
    if (autotuneLog != null) {
      String lines = String.join("\n", GradientsFigures.log(report)) + "\n";
      output.write(
          "--autotune-log",
          autotuneLog,
          file -> NewFile.write(file, lines.getBytes(StandardCharsets.UTF_8)));
    }
  }

  private void record(ExperimentOutput output) throws InterruptedException {
    for (GradientsPlan plan : plan(models.getFirst()).recorded()) {
      MeasuredHost host = MeasuredHost.here();
      ContestantRounds ran = output.rounds("", rounds, List.of(weft(plan))).getFirst();
      Figure figure = GradientsFigures.recording(plan, carrier(), ran, host);
      output.add(List.of(figure), GradientsFigures.recordingText(figure));
    }
  }

  /// Returns the peer that reduces each tensor separately, if requested.
  private Optional<Contestant> peer(GradientsPlan plan) throws InterruptedException {
    if (peers.isEmpty()) {
      return Optional.empty();
    }
    if (!peers.equals(List.of("openmpi"))) {
      throw new IllegalArgumentException("--peer: unknown peer " + peers + "; allowed: openmpi");
    }
    if (plan.tensors() == 0 || gbit != null) {
      throw new IllegalArgumentException(
          "--peer: openmpi replays only the model uniform, on one host");
    }
    String words = "allreduces:" + plan.tensors();
    String one = plan.bytes() + ":" + plan.steps() * GradientsPlan.TURNS;
    var openMpi = new OpenMpi(SearchPath.ofEnvironment(), CProgram.userCache());
    List<String> command = openMpi.command(carrier.transport(), ranks, List.of(words, "20", one));
    return Optional.of(
        new Contestant(
            "openmpi",
            () -> RankReport.parse(Contestant.output("Open MPI", command, Map.of(), limit()))));
  }

  private List<Figure> simulate() {
    List<PlanLink> links = List.of(PlanLink.tcp("tcp", speed()), PlanLink.rdma("rdma", speed()));
    List<Figure> figures = new ArrayList<>();
    for (String model : models) {
      GradientsPlan plan = plan(model);
      for (boolean fused : plan.fusion()) {
        for (int each : simulated) {
          links.forEach(link -> figures.add(simulated(plan.gradients(), link, each, fused)));
        }
      }
    }
    return figures;
  }

  /// Simulates accelerators, whose computation communication does not delay.
  private Figure simulated(GradientModel model, PlanLink link, int count, boolean fused) {
    var step = new StepSimulation(model, link, new PlanRanks(count, PUBLISHED_RANKS_PER_HOST, 0));
    double nanos =
        fused
            ? step.fused(DataParallelOptions.of(WeftConfig.load()).fusionThreshold())
            : step.single();
    return GradientsFigures.of(
            "weft", model, fused, new Carrier(count, link.name(), speed()), nanos / 1e3)
        .with("simulated", true);
  }

  private double speed() {
    return gbit == null ? PUBLISHED_GBIT : gbit;
  }

  private GradientsPlan plan(String model) {
    boolean uniform = model.equals("uniform");
    long length = uniform ? ByteSizes.parse(bytes).getFirst() : 0;
    List<Boolean> settings = fusion.stream().map(GradientsCommand::onOrOff).distinct().toList();
    Duration compute =
        computeMillis == null ? GradientsPlan.published(model) : Duration.ofMillis(computeMillis);
    var plan =
        new GradientsPlan(
            model, uniform ? tensors : 0, length, compute, Purpose.COMPARE, settings, 1, 1);
    int timed = steps == null ? usualSteps(plan) : steps;
    within("--steps", timed, 1, 100_000);
    return new GradientsPlan(
        model,
        plan.tensors(),
        length,
        compute,
        Purpose.COMPARE,
        settings,
        timed,
        Math.max(2, 3 * timed));
  }

  private static int usualSteps(GradientsPlan plan) {
    return Math.clamp((64L << 20) / plan.gradients().bytes(), 1, 100);
  }

  private static boolean onOrOff(String word) {
    return switch (word.toLowerCase(Locale.ROOT)) {
      case "on" -> true;
      case "off" -> false;
      default ->
          throw new IllegalArgumentException(
              "--fusion: '" + word + "'; allowed: on, off, or both with a comma");
    };
  }

  private Carrier carrier() {
    return new Carrier(ranks, carrier.transport(), gbit);
  }
}
