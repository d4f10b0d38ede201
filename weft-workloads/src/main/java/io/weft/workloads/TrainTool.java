// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.elastic.OnFailure;
import io.weft.comm.CommException;
import io.weft.telemetry.metrics.GoodputMeter;
import io.weft.telemetry.metrics.MetricsConfig;
import io.weft.telemetry.metrics.RankMetrics;
import io.weft.telemetry.timeline.RankTimeline;
import io.weft.telemetry.timeline.Timeline;
import io.weft.tensorflow.session.StepException;
import io.weft.workloads.checkpoint.CheckpointException;
import io.weft.workloads.data.DataException;
import io.weft.workloads.djl.DjlNetwork;
import io.weft.workloads.model.EngineKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.GraphException;
import io.weft.workloads.report.Preparation;
import io.weft.workloads.report.ProgressPrinter;
import io.weft.workloads.report.Summary;
import io.weft.workloads.report.ToldSource;
import io.weft.workloads.report.TrainReport;
import io.weft.workloads.training.NetworkTrainer;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Trainer;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingJob;
import io.weft.workloads.training.TrainingOutcome;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.spi.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.tensorflow.TensorFlow;
import org.tensorflow.exceptions.TensorFlowException;

/// The tool `weft-train`, which trains a workload as one rank of the job that the environment
/// names. The summary is printed to `out`, progress and errors to `err`. Returns 0 after training,
/// 1 if the job failed, 2 for a wrong command line or data, 3 if a file or library is missing.
///
/// `--list` prints the workloads. `--validate` as the first argument only checks options and files.
/// With parameter servers it prints the number of ranks, the rank that reports, and the ranks that
/// are dispensable, such as `ranks=4 reports=2 dispensable=2-3`. It adds ` task=3` if `TF_CONFIG`
/// assigns a rank to this process; `--validate=own` ignores `TF_CONFIG`.
public final class TrainTool implements ToolProvider {

  private static final int FAILED = 1;
  private static final int WRONG = 2;
  private static final int MISSING = 3;

  /// Creates the tool for the service loader.
  public TrainTool() {}

  @Override
  public String name() {
    return "weft-train";
  }

  @Override
  public int run(PrintWriter out, PrintWriter err, String... args) {
    int code = guarded(out, err, List.copyOf(Arrays.asList(args)));
    out.flush();
    err.flush();
    return code;
  }

  private int guarded(PrintWriter out, PrintWriter err, List<String> arguments) {
    try {
      return dispatch(out, err, arguments);
    } catch (BadOption
        | DataException.Malformed
        | DataException.TooLarge
        | TrainingException.Unfit
        | CheckpointException
        | CommException.Setup e) {
      // If other ranks are absent or have other settings, this command itself is not wrong.
      boolean ofOthers = e instanceof CommException.Setup setup && !setup.ranks().isEmpty();
      return failed(err, ofOthers ? FAILED : WRONG, e.getMessage());
    } catch (DataException.Missing | TrainingException.NoEngine | ReportFiles.Undrawable e) {
      return failed(err, MISSING, e.getMessage());
    } catch (UnsatisfiedLinkError | NoClassDefFoundError e) {
      return failed(
          err,
          MISSING,
          "a native library does not load here ("
              + (e.getCause() == null ? e : e.getCause()).getMessage()
              + "); TensorFlow needs Linux on x86-64, glibc, and about 700 MB of space for its"
              + " libraries in ~/.javacpp/cache");
    } catch (CommException
        | StepException
        | GraphException
        | TrainingException
        | TensorFlowException
        | ReportFiles.Unwritten
        | IOException e) {
      return failed(err, FAILED, e.getMessage());
    }
  }

  private static int failed(PrintWriter err, int code, @Nullable String message) {
    err.println("weft train: " + message);
    return code;
  }

  private int dispatch(PrintWriter out, PrintWriter err, List<String> arguments)
      throws IOException {
    if (arguments.equals(List.of("--list"))) {
      for (Workload workload : Workload.values()) {
        out.printf("%-11s  %s%n", workload.title(), workload.summary());
      }
      return 0;
    }
    String first = arguments.isEmpty() ? "" : arguments.getFirst();
    boolean own = first.equals("--validate=own");
    boolean validate = own || first.equals("--validate");
    var commandLine =
        new TrainCommandLine(() -> own ? Optional.empty() : ConfiguredTask.read(System.getenv()));
    Optional<TrainOptions> options =
        commandLine.parse(validate ? arguments.subList(1, arguments.size()) : arguments);
    if (options.isEmpty()) {
      out.print(commandLine.usage());
      return 0;
    }
    if (validate) {
      EngineFlag.requireLibrary(options.get().settings());
      options.get().source().check();
      if (options.get().servers().isPresent()) {
        out.println(ServedTool.ranks(options.get(), options.get().servers().get()));
      }
      return 0;
    }
    train(options.get(), out, err);
    return 0;
  }

  private static void train(TrainOptions given, PrintWriter out, PrintWriter err)
      throws IOException {
    if (given.settings().read() == ReadMode.SHARDED) {
      // Every rank reads, so each checks its data before any rank waits for another.
      given.source().check();
    }
    EngineKind engine = given.settings().engine();
    EngineFlag.requireLibrary(given.settings());
    WeftConfig.Builder config = WeftConfig.builder();
    given.transport().ifPresent(config::transport);
    if (given.servers().isEmpty() && engine == EngineKind.TENSORFLOW) {
      loadTensorFlow();
    }
    try (Weft weft = join(given, config.build());
        RankTimeline timeline = TrainTimeline.open(given, weft)) {
      TrainOptions options = given.of(weft.size());
      requireSameOptions(weft, options);
      TrainTimeline.begin(timeline);
      if (options.servers().isPresent()) {
        ServedTool.train(options, options.servers().get(), weft, out, err);
      } else {
        train(options, weft, timeline.timeline(), out, err);
      }
      TrainTimeline.end(timeline);
    }
  }

  /// Loads TensorFlow's native library on a separate thread while this rank meets the others. If
  /// the library cannot be loaded, its first use throws that error as a cause.
  private static void loadTensorFlow() {
    Thread.ofPlatform()
        .daemon()
        .name("weft-tensorflow-loader")
        .uncaughtExceptionHandler((_, _) -> {})
        .start(TensorFlow::version);
  }

  private static void train(
      TrainOptions options, Weft weft, Timeline timeline, PrintWriter out, PrintWriter err)
      throws IOException {
    var job = TrainingJob.of(weft, options.threads(), timeline);
    try (var _ = metrics(weft, job.goodput())) {
      var training = TrainingThread.start(() -> train(options, job, out, err));
      if (weft.config().onFailure() == OnFailure.END) {
        weft.onFailure(training::giveUp);
      }
      training.await();
    }
  }

  /// Returns the metrics; null if they are not configured.
  private static @Nullable RankMetrics metrics(Weft weft, GoodputMeter goodput) {
    return weft.config()
        .value(MetricsConfig.ADDRESS)
        .map(address -> RankMetrics.open(weft, goodput, address))
        .orElse(null);
  }

  private static void requireSameOptions(Weft weft, TrainOptions options) {
    try {
      SameOptions.require(weft, options);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks compare their options", e);
    }
  }

  private static Weft join(TrainOptions options, WeftConfig config) {
    Map<String, String> environment = System.getenv();
    return options.task().isEmpty()
        ? Weft.init(config)
        : Weft.init(config, options.task().get().launch(environment), environment);
  }

  static void train(TrainOptions options, TrainingJob job, PrintWriter out, PrintWriter err) {
    try (var preparation = Preparation.start(err, style(), () -> job.rank() == 0)) {
      train(options, job, preparation, out, err);
    }
  }

  private static void train(
      TrainOptions options,
      TrainingJob job,
      Preparation preparation,
      PrintWriter out,
      PrintWriter err) {
    var settings = options.settings();
    var observer = new ProgressPrinter(err, preparation, style(), settings, () -> job.rank() == 0);
    var extras = new ReportFiles(options);
    if (job.rank() == 0) {
      extras.begin();
      GradientFlags.variable(settings, System.getenv()).ifPresent(err::println);
    }
    var source = new ToldSource(options.source(), preparation);
    Consumer<TrainingOutcome> report =
        result -> extras.write(TrainReport.of(settings, result, job), result);
    TrainingOutcome outcome;
    List<String> tuningLog = List.of();
    if (settings.engine() == EngineKind.DJL) {
      var trainer = new NetworkTrainer(settings, source, job, observer, DjlNetwork::of);
      outcome = trainer.run(report);
    } else {
      var trainer = new Trainer(settings, source, job, observer);
      outcome = trainer.run(report);
      tuningLog = trainer.tuningLog();
    }
    if (job.rank() == 0) {
      out.print(Summary.of(TrainReport.of(settings, outcome, job), outcome));
      out.flush();
      extras.writeLog(tuningLog);
      extras.require(observer.isUnsaved());
    }
  }

  static ProgressPrinter.Style style() {
    return "1".equals(System.getenv("WEFT_TERMINAL"))
        ? ProgressPrinter.Style.TERMINAL
        : ProgressPrinter.Style.LOG;
  }
}
