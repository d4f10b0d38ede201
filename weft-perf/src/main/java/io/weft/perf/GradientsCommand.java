// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.comm.CommException;
import io.weft.file.NewFile;
import io.weft.perf.gradients.GradientsContestant;
import io.weft.perf.gradients.GradientsCurves;
import io.weft.perf.gradients.GradientsFigure;
import io.weft.perf.gradients.GradientsFigure.Carrier;
import io.weft.perf.gradients.GradientsPeer;
import io.weft.perf.gradients.GradientsPlan;
import io.weft.perf.gradients.GradientsPlan.Purpose;
import io.weft.perf.gradients.GradientsRounds;
import io.weft.perf.gradients.GradientsSimulation;
import io.weft.perf.gradients.GradientsTable;
import io.weft.perf.gradients.RecordingFigure;
import io.weft.perf.gradients.TuningFigure;
import io.weft.perf.process.CProgram;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.Interruption;
import io.weft.perf.process.PerfException;
import io.weft.perf.process.SearchPath;
import io.weft.perf.process.UsableTransport;
import io.weft.perf.report.JsonLines;
import io.weft.perf.report.PerfProgress;
import io.weft.perf.report.Picture;
import io.weft.perf.report.ReportFile;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft perf gradients`: a step of data-parallel training without its network. Exits with 0 on
/// success, 1 if a measurement failed or an average was wrong, 2 for a wrong command line, 3 if a
/// requirement is missing.
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
final class GradientsCommand implements Callable<Integer> {

  private static final int MOST_RANKS = 180;

  @Spec private @Nullable CommandSpec spec;

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
              + " multiplications of each layer (default: the time of a Tesla P100 for 64 images;"
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
      names = "--limit",
      paramLabel = "S",
      defaultValue = "300",
      description = "seconds that one round of one contestant may take (default: ${DEFAULT-VALUE})")
  private long limitSeconds;

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

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw efficiency over ranks for --simulate; FILE ends in .svg or .png")
  private @Nullable Path plot;

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    PrintWriter out = command.commandLine().getOut();
    PrintWriter err = command.commandLine().getErr();
    Interruption interruption = Interruption.toldTo(err);
    try {
      check();
      if (autotune) {
        return tune(out, err);
      }
      if (recording) {
        return record(out, err);
      }
      List<GradientsFigure> figures = simulated.isEmpty() ? measure(err) : simulate();
      out.print(new GradientsTable(figures).text());
      out.flush();
      boolean kept = save(figures, err);
      boolean right = figures.stream().noneMatch(f -> Boolean.FALSE.equals(f.checked()));
      return kept && right ? 0 : 1;
    } catch (IllegalArgumentException | CommException.Setup e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    } catch (PerfException.Missing e) {
      err.println("weft: " + e.getMessage());
      return 3;
    } catch (PerfException.Failed e) {
      interruption.tell(e);
      return 1;
    } finally {
      interruption.close();
    }
  }

  private void check() {
    within("-np", ranks, 2, MOST_RANKS);
    within("--rounds", rounds, 1, 1000);
    within("--limit", limitSeconds, 1, 86_400);
    for (int each : simulated) {
      within("--simulate", each, 1, 4096);
    }
    if (models.size() > 1 && simulated.isEmpty()) {
      throw new IllegalArgumentException("--model: several only with --simulate");
    }
    if (gbit != null && (!Double.isFinite(gbit) || gbit < 0.001 || gbit > 1000)) {
      throw new IllegalArgumentException("--gbit: " + gbit + "; allowed: 0.001 to 1000");
    }
    if (gbit != null && simulated.isEmpty() && !carrier.transport().equals("tcp")) {
      throw new IllegalArgumentException(
          "--gbit: only tcp connects the two network namespaces, not " + carrier.transport());
    }
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
    if (plot != null && (simulated.isEmpty() || !Picture.knows(plot))) {
      throw new IllegalArgumentException(
          "--plot: " + plot + " must end in .svg or .png, and needs --simulate");
    }
    for (Path file : files()) {
      NewFile.obstacle(file)
          .ifPresent(
              why -> {
                throw new IllegalArgumentException("cannot write " + file + ": " + why);
              });
    }
  }

  private List<Path> files() {
    List<Path> files = new ArrayList<>();
    Optional.ofNullable(json).ifPresent(files::add);
    Optional.ofNullable(plot).ifPresent(files::add);
    Optional.ofNullable(autotuneLog).ifPresent(files::add);
    return files;
  }

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }

  private List<GradientsFigure> measure(PrintWriter err) throws InterruptedException {
    GradientsPlan plan = plan(models.getFirst());
    Duration limit = Duration.ofSeconds(limitSeconds);
    var contestants = new GradientsRounds(plan, carriedBy(ranks), carrier.secure(), limit, rounds);
    try (PerfProgress progress = PerfProgress.to(err)) {
      return contestants.run(peer(plan), progress);
    }
  }

  private int tune(PrintWriter out, PrintWriter err) throws InterruptedException {
    GradientsPlan plan = plan(models.getFirst()).tuned();
    var ranksHere =
        new GradientsContestant(
            plan, carriedBy(ranks), carrier.secure(), Duration.ofSeconds(limitSeconds));
    GradientsContestant.TunedRun run;
    try (PerfProgress progress = PerfProgress.to(err)) {
      progress.accept("autotuning");
      run = ranksHere.tune();
    }
    out.print(run.figure().text());
    out.flush();
    boolean kept = true;
    if (json != null) {
      List<TuningFigure> one = List.of(run.figure());
      kept &= new ReportFile("--json", json).write(file -> JsonLines.write(file, one), err);
    }
    if (autotuneLog != null) {
      byte[] lines = (String.join("\n", run.log()) + "\n").getBytes(StandardCharsets.UTF_8);
      kept &=
          new ReportFile("--autotune-log", autotuneLog)
              .write(file -> NewFile.write(file, lines), err);
    }
    return kept ? 0 : 1;
  }

  private int record(PrintWriter out, PrintWriter err) throws InterruptedException {
    List<RecordingFigure> figures = new ArrayList<>();
    try (PerfProgress progress = PerfProgress.to(err)) {
      for (GradientsPlan plan : plan(models.getFirst()).recorded()) {
        var ranksHere =
            new GradientsContestant(
                plan, carriedBy(ranks), carrier.secure(), Duration.ofSeconds(limitSeconds));
        figures.add(ranksHere.record(rounds, progress));
      }
    }
    figures.forEach(figure -> out.print(figure.text()));
    out.flush();
    boolean kept =
        json == null
            || new ReportFile("--json", json).write(file -> JsonLines.write(file, figures), err);
    return kept && figures.stream().allMatch(RecordingFigure::checked) ? 0 : 1;
  }

  /// Returns the peer that reduces each tensor separately, if requested.
  private Optional<GradientsPeer> peer(GradientsPlan plan) throws InterruptedException {
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
    return Optional.of(
        new GradientsPeer(
            openMpi.command(carrier.transport(), ranks, List.of(words, "20", one)),
            Duration.ofSeconds(limitSeconds)));
  }

  private List<GradientsFigure> simulate() {
    List<GradientsFigure> figures = new ArrayList<>();
    for (String model : models) {
      GradientsPlan plan = plan(model);
      for (boolean fused : plan.fusion()) {
        for (int each : simulated) {
          for (String transport : List.of("tcp", "rdma")) {
            figures.add(
                new GradientsSimulation(plan.gradients(), speed(), transport).step(each, fused));
          }
        }
      }
    }
    return figures;
  }

  private double speed() {
    return gbit == null ? GradientsSimulation.PUBLISHED_GBIT : gbit;
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

  private Carrier carriedBy(int size) {
    return new Carrier(size, carrier.transport(), gbit);
  }

  /// Writes the requested files. Returns true if all were written.
  private boolean save(List<GradientsFigure> figures, PrintWriter err) {
    boolean kept = true;
    if (json != null) {
      kept &= new ReportFile("--json", json).write(file -> JsonLines.write(file, figures), err);
    }
    if (plot != null) {
      kept &= new ReportFile("--plot", plot).write(new GradientsCurves(figures)::save, err);
    }
    return kept;
  }
}
