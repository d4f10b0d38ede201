// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.gradients.Architectures;
import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientModel.ModelVariable;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.perf.training.TrainingRun;
import io.weft.workloads.model.EngineKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `weft plan`: recommends allreduce or servers for a workload on a link.
@Command(
    name = "plan",
    mixinStandardHelpOptions = true,
    description = {
      "Recommends how a workload should exchange gradients over a network that need not exist yet:"
          + " by allreduce or by servers, the number of servers, fusion and its buffer, with the"
          + " expected step and efficiency for each number of ranks.",
      "",
      "The step of one rank is measured here by 'weft train' with one computing thread: alone, and"
          + " while others train independently, because the ranks of a host compete for its memory."
          + " --step-millis replaces both. Steps of several ranks are simulated: gradients become"
          + " ready in the backward pass, the code of a real job chooses buffers and algorithms,"
          + " and formulas of latency, bandwidth and processor time yield the times. Each rank has"
          + " an equal batch, so the efficiency is the step of one rank divided by the step of"
          + " all.",
      ""
    },
    footer = {
      "",
      "Links:",
      "  1g, 10g, 25g        TCP over Ethernet of 1, 10, 25 Gbit/s",
      "  40g                 TCP over InfiniBand (IPoIB) of 40 Gbit/s, which carries 32",
      "  rdma-25g, rdma-40g  RDMA over the same links of 25 and 40 Gbit/s",
      "",
      "Examples:",
      "  weft plan wide-deep --link 10g --ranks 1..64",
      "  weft plan vgg16 --link 25g --ranks 1..128 --ranks-per-host 4 --processors 0 --spread 3",
      "  weft plan alexnet --link 1g --ranks 1,2,4 --plot plan.png --json plan.json",
      "  weft plan --tensors net.txt --step-millis 120 --link rdma-25g --ranks-per-host 4",
      "",
      "A line of FILE for --tensors, in the order of the forward pass: NAME SHAPE [USES], such as",
      "  conv1 5x5x1x32 784",
      "  dense1 3136x1024",
      "USES is the number of multiplications of each element for one example (default 1).",
      "",
      "The model and its accuracy: docs/plan.md"
    })
final class PlanCommand extends Experiment {

  private static final int MOST_PLANNED = 4096;
  private static final int USUAL_BATCH = 32;
  private static final double MOST_MILLIS = 3_600_000;
  private static final Pattern RANGE = Pattern.compile("(\\d{1,6})(?:\\.\\.(\\d{1,6}))?");

  @Parameters(
      paramLabel = "WORKLOAD",
      arity = "0..1",
      description =
          "a workload of 'weft train', such as alexnet or wide-deep, or a published network with"
              + " the step of 64 images on one accelerator: resnet101, inception-v3, vgg16 or"
              + " transformer-base")
  private @Nullable String workload;

  @Option(
      names = "--tensors",
      paramLabel = "FILE",
      description = "a list of variables instead of a workload; needs --step-millis")
  private @Nullable Path tensors;

  @Option(
      names = "--link",
      paramLabel = "LINK",
      defaultValue = "10g",
      description =
          "link of each host: 1g, 10g, 25g, 40g, rdma-25g or rdma-40g (default: ${DEFAULT-VALUE})")
  private String link = "10g";

  @Option(
      names = "--ranks",
      paramLabel = "LIST",
      defaultValue = "1..1024",
      description =
          "numbers of ranks: a list such as 1,2,12, or a range A..B, which means A, the powers of"
              + " two between, and B (default: ${DEFAULT-VALUE})")
  private String ranks = "1..1024";

  @Option(
      names = "--ranks-per-host",
      paramLabel = "N",
      defaultValue = "1",
      description = "ranks that share the link of a host (default: ${DEFAULT-VALUE})")
  private int perHost;

  @Option(
      names = "--processors",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "processors of a rank, which compute and move bytes; 0 if an accelerator computes"
              + " (default: ${DEFAULT-VALUE})")
  private int processors;

  @Option(
      names = "--batch-per-rank",
      paramLabel = "B",
      description =
          "examples of each rank in a step (default: those of 'weft train' on one rank; with"
              + " --tensors 32)")
  private @Nullable Integer batchPerRank;

  @Option(
      names = "--step-millis",
      paramLabel = "MS",
      description = "milliseconds of a step on one rank (default: measured here)")
  private @Nullable Double stepMillis;

  @Option(
      names = "--ranks-at-once",
      paramLabel = "N",
      description =
          "ranks that train independently at once while the step of each of several ranks is"
              + " measured; 1 measures one rank alone (default: 2, with a single processor 1)")
  private @Nullable Integer ranksAtOnce;

  @Option(
      names = "--spread",
      paramLabel = "PERCENT",
      defaultValue = "0",
      description =
          "standard deviation of the ranks' times of a step, of which the slowest counts"
              + " (default: ${DEFAULT-VALUE})")
  private double spread;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "10",
      description =
          "seconds of a measured training, at least 6; it ends with its epoch (default:"
              + " ${DEFAULT-VALUE})")
  private double seconds;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw speed and efficiency over ranks; FILE ends in .svg or .png")
  private @Nullable Path plot;

  private @Nullable Picture picture;

  @Override
  protected @Nullable Path plot() {
    return plot;
  }

  @Override
  protected Optional<Picture> picture(List<Figure> measured) {
    return Optional.ofNullable(picture);
  }

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    PlanLink over = PlanLink.named(link);
    within("--ranks-per-host", perHost, 1, 1024);
    within("--processors", processors, 0, 1024);
    List<PlanRanks> jobs =
        counts(ranks).stream().map(each -> new PlanRanks(each, perHost, processors)).toList();
    if (!(spread >= 0 && spread <= 100)) {
      throw new IllegalArgumentException(
          "--spread: " + spread + " is out of range; allowed: 0 to 100");
    }
    Optional<GradientModel> published = published();
    if (published.isPresent()) {
      plan(published.get(), over, jobs, output);
      return;
    }
    Optional<Workload> known = known();
    int batch =
        batchPerRank == null ? known.map(Workload::defaultBatch).orElse(USUAL_BATCH) : batchPerRank;
    within("--batch-per-rank", batch, 1, 1 << 20);
    requireStep();
    int atOnce = atOnce(jobs.getLast().count());
    within("--ranks-at-once", atOnce, 1, MOST_RANKS);
    List<ModelVariable> variables = variables(known, batch);
    String name = known.map(Workload::title).orElseGet(() -> String.valueOf(tensors));
    Double given = stepMillis;
    double alone = given == null ? measured(name, batch, 1, output) : given;
    double busy = atOnce == 1 ? alone : measured(name, batch, atOnce, output);
    StepPlan plan =
        StepPlan.of(
            model(name, variables, alone), model(name, variables, busy), spread(), over, jobs);
    var report =
        new PlanReport(
            plan,
            batch,
            perHost,
            atOnce,
            given == null ? Optional.of(MeasuredHost.here()) : Optional.empty());
    picture = report.picture();
    output.add(List.of(report.figure()), report.text());
  }

  private StepSpread spread() {
    return new StepSpread(spread / 100);
  }

  /// Returns the published network that was named, empty if none was.
  private Optional<GradientModel> published() {
    String title = workload;
    if (title == null || tensors != null || !Architectures.NAMES.contains(title)) {
      return Optional.empty();
    }
    if (batchPerRank != null && stepMillis == null) {
      throw new IllegalArgumentException(
          "--batch-per-rank: the step of "
              + title
              + " is known for "
              + Architectures.BATCH
              + " examples; give --step-millis with it");
    }
    requireStep();
    GradientModel model = Architectures.named(title);
    Double given = stepMillis;
    return Optional.of(
        given == null ? model : model.taking(Duration.ofNanos(Math.round(1e6 * given))));
  }

  private void plan(
      GradientModel model, PlanLink over, List<PlanRanks> jobs, ExperimentOutput output) {
    int batch = batchPerRank == null ? Architectures.BATCH : batchPerRank;
    within("--batch-per-rank", batch, 1, 1 << 20);
    StepPlan plan = StepPlan.of(model, model, spread(), over, jobs);
    var report = new PlanReport(plan, batch, perHost, 1, Optional.empty());
    picture = report.picture();
    output.add(List.of(report.figure()), report.text());
  }

  private static GradientModel model(String name, List<ModelVariable> variables, double millis) {
    return GradientModel.of(name, variables, Duration.ofNanos(Math.round(1e6 * millis)));
  }

  /// Returns the number of ranks that train at once, 1 if nothing is measured for several ranks.
  private int atOnce(int most) {
    Integer given = ranksAtOnce;
    if (stepMillis != null || most == 1) {
      return 1;
    }
    return given == null ? Math.min(2, Runtime.getRuntime().availableProcessors()) : given;
  }

  /// Returns the workload, empty for a list of tensors.
  private Optional<Workload> known() {
    String title = workload;
    if ((title == null) == (tensors == null)) {
      throw new IllegalArgumentException(
          "a plan is for one network: give a WORKLOAD (" + names() + ") or --tensors FILE");
    }
    if (title == null) {
      return Optional.empty();
    }
    Optional<Workload> known =
        Workload.named(title).filter(each -> each.isComputedBy(EngineKind.TENSORFLOW));
    if (known.isEmpty()) {
      throw new IllegalArgumentException("no workload '" + title + "'; allowed: " + names());
    }
    return known;
  }

  private static String names() {
    return Stream.concat(
            Arrays.stream(Workload.values())
                .filter(each -> each.isComputedBy(EngineKind.TENSORFLOW))
                .map(Workload::title),
            Architectures.NAMES.stream())
        .collect(Collectors.joining(", "));
  }

  private void requireStep() {
    Double given = stepMillis;
    if (given == null && tensors != null) {
      throw new IllegalArgumentException(
          "--tensors: only workloads can be measured; give --step-millis, the time of a step on one"
              + " rank");
    }
    if (given != null && !(given > 0 && given <= MOST_MILLIS)) {
      throw new IllegalArgumentException(
          "--step-millis: " + given + " is out of range; allowed: above 0, up to 3600000");
    }
    if (!(seconds >= 6 && seconds <= 3600)) {
      throw new IllegalArgumentException(
          "--seconds: " + seconds + " is out of range; allowed: 6 to 3600");
    }
  }

  private List<ModelVariable> variables(Optional<Workload> known, int batch) {
    Path file = tensors;
    return file == null
        ? WorkloadVariables.of(known.orElseThrow(), batch)
        : TensorList.read(file, batch);
  }

  /// Measures a step in milliseconds while this number of ranks train independently.
  private double measured(String name, int batch, int atOnce, ExperimentOutput output)
      throws InterruptedException {
    output.progress(
        "measuring a step of %s, batch %d: %s"
            .formatted(name, batch, atOnce == 1 ? "one rank" : atOnce + " ranks at once"));
    var run = new TrainingRun(name, Optional.empty(), batch, seconds, "auto", limit());
    List<Double> micros = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(atOnce)) {
      List<Callable<RankReport>> runs = Collections.nCopies(atOnce, () -> run.run(1));
      for (Future<RankReport> each : threads.invokeAll(runs)) {
        micros.add(each.get().sample(TrainingRun.STEADY).number("p50Micros"));
      }
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof PerfException known) {
        throw known;
      }
      throw new PerfException.Failed("a measured training failed: " + failed.getCause(), failed);
    }
    return Figure.median(micros) / 1e3;
  }

  /// Parses a list of numbers and ranges. Throws `IllegalArgumentException` with the format.
  static List<Integer> counts(String text) {
    TreeSet<Integer> counts = new TreeSet<>();
    for (String part : text.split(",", -1)) {
      Matcher match = RANGE.matcher(part.strip());
      if (!match.matches()) {
        throw new IllegalArgumentException(
            "--ranks: '%s' in '%s'; write a list or a range such as 1,2,12 or 1..64"
                .formatted(part, text));
      }
      int from = Integer.parseInt(match.group(1));
      int to = match.group(2) == null ? from : Integer.parseInt(match.group(2));
      within("--ranks", from, 1, MOST_PLANNED);
      within("--ranks", to, 1, MOST_PLANNED);
      if (from > to) {
        throw new IllegalArgumentException("--ranks: the range " + part + " is empty");
      }
      counts.add(from);
      for (int each = 2 * Integer.highestOneBit(from); each < to; each *= 2) {
        counts.add(each);
      }
      counts.add(to);
    }
    return List.copyOf(counts);
  }
}
