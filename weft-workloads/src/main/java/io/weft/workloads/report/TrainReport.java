// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.weft.dataparallel.rate.LearningRateWarmup;
import io.weft.file.NewFile;
import io.weft.telemetry.metrics.Goodput;
import io.weft.workloads.parameterserver.ServedResult;
import io.weft.workloads.parameterserver.ServingFacts;
import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.Timing;
import io.weft.workloads.training.Traffic;
import io.weft.workloads.training.TrainingCost;
import io.weft.workloads.training.TrainingJob;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// The report of a run, as `--json` writes it: one object with these fields, in this order.
///
/// @param workload name on the command line
/// @param dataset "synthetic digits", "MNIST files in DIR"
/// @param ranks that trained, at the end
/// @param epochs requested, those of a resumed checkpoint included
/// @param globalBatch examples in a step, over all ranks
/// @param seed of weights, order and embedded data
/// @param samplesPerSecond over all ranks, while training
/// @param stepMillis time of a step on the lowest rank
/// @param finalLoss mean training loss of the last 50 global batches
/// @param testAccuracy fraction of correct predictions on the test set
/// @param testAuc area under the curve on the test set; left out if a workload is not ranked
/// @param weightsDigest SHA-256 of the weights, by remaining rank
/// @param shrinks the losses of ranks after which training continued
/// @param computeSeconds mean over the ranks; see `Timing`, also for the next two; all three are
///   left out if unknown, as with parameter servers
/// @param communicationSeconds not hidden behind computing
/// @param waitSeconds because another rank was later
/// @param steady the steps that began 5 s or more after the first step; left out if there are none
/// @param traffic the bytes that moved, as fields of this object; `bytesPerStep` without the bytes
///   at the ends of epochs, left out for one rank and with parameter servers; with parameter
///   servers, the workers' bytes, over shm without the bytes that servers read out of their memory
/// @param outerSteps of local SGD; left out for other kinds of training
/// @param transport scheme, "none" for one rank
/// @param engine that computed the network
/// @param goodput the use of the job's time; left out if unknown
/// @param optimizerBytes of the optimizer's state on the lowest rank, such as momenta; left out if
///   servers have it
/// @param cost of the run, as fields of this object; left out if unknown
/// @param shares the examples of each rank in the last steps; left out without `--balance`
/// @param rate the learning rate that scales with the ranks, as fields of this object; left out
///   without `--scale-lr`
/// @param sample a line that the language model has written; left out for other networks
/// @param serving the facts of a training with parameter servers, as fields of this object
/// @param host of the lowest rank
/// @param weftVersion of this library
public record TrainReport(
    String workload,
    String dataset,
    int ranks,
    int epochs,
    int globalBatch,
    long seed,
    double samplesPerSecond,
    StepMillis stepMillis,
    double finalLoss,
    double testAccuracy,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble testAuc,
    List<String> weightsDigest,
    List<Shrink> shrinks,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble computeSeconds,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble communicationSeconds,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble waitSeconds,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<Steady> steady,
    @JsonUnwrapped Traffic traffic,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalLong outerSteps,
    String transport,
    String engine,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<Goodput> goodput,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalLong optimizerBytes,
    @JsonUnwrapped @Nullable TrainingCost cost,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Integer> shares,
    @JsonUnwrapped @Nullable ScaledRate rate,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<String> sample,
    @JsonUnwrapped @Nullable ServingFacts serving,
    @JsonIgnoreProperties({"memory", "loadAverage"}) MeasuredHost host,
    String weftVersion) {

  /// The median and the 99th percentile.
  public record StepMillis(double p50, double p99) {

    private static StepMillis of(Timing timing) {
      return new StepMillis(timing.quantileMillis(0.5), timing.quantileMillis(0.99));
    }
  }

  /// The learning rate that scales with the ranks.
  ///
  /// @param learningRate of all ranks, after the warm-up; with `sgd` and `momentum` it falls over
  ///   the training
  /// @param warmupSteps the steps in which the rate grows from that of one rank
  public record ScaledRate(double learningRate, long warmupSteps) {

    private static ScaledRate of(LearningRateWarmup rates) {
      // The rate is given in FLOAT32, whose digits the report has.
      return new ScaledRate(
          Double.parseDouble(Float.toString((float) (rates.rate() * rates.ranks()))),
          rates.steps());
    }
  }

  /// The steps after the warm-up, during which Java and TensorFlow compile.
  ///
  /// @param steps the number of steps
  /// @param exposedShare the fraction of their time for communication that no computation hid
  /// @param waitShare the fraction of their time for waiting for another rank
  public record Steady(
      int steps,
      double samplesPerSecond,
      StepMillis stepMillis,
      double exposedShare,
      double waitShare) {

    private static Steady of(Timing timing) {
      double seconds =
          timing.computeSeconds() + timing.communicationSeconds() + timing.waitSeconds();
      return new Steady(
          timing.stepNanos().size(),
          timing.samplesPerSecond(),
          StepMillis.of(timing),
          timing.communicationSeconds() / seconds,
          timing.waitSeconds() / seconds);
    }
  }

  /// Returns the report of a training.
  public static TrainReport of(
      TrainingSettings settings, TrainingOutcome outcome, TrainingJob job) {
    return of(settings, outcome, job.size(), job.transport(), null);
  }

  /// Returns the report of a training with parameter servers on this number of ranks.
  public static TrainReport of(
      TrainingSettings settings, ServedResult served, int ranks, String transport) {
    return of(settings, served.outcome(), ranks, transport, served.facts());
  }

  private static TrainReport of(
      TrainingSettings settings,
      TrainingOutcome outcome,
      int ranks,
      String transport,
      @Nullable ServingFacts serving) {
    var timing = outcome.timing();
    return new TrainReport(
        settings.workload().title(),
        outcome.dataset(),
        ranks,
        settings.limit().isPresent() ? outcome.accuracies().size() : settings.epochs(),
        settings.batch(),
        settings.seed(),
        timing.samplesPerSecond(),
        StepMillis.of(timing),
        outcome.finalLoss(),
        outcome.accuracies().getLast(),
        outcome.auc(),
        outcome.digests(),
        outcome.shrinks(),
        known(timing.computeSeconds()),
        known(timing.communicationSeconds()),
        known(timing.waitSeconds()),
        timing.steady().map(Steady::of),
        outcome.traffic(),
        outcome.outerSteps(),
        transport,
        settings.engine().toString(),
        outcome.goodput(),
        outcome.optimizerBytes(),
        outcome.cost().orElse(null),
        outcome.shares(),
        outcome.warmup().map(ScaledRate::of).orElse(null),
        outcome.sample(),
        serving,
        MeasuredHost.here(),
        version());
  }

  private static OptionalDouble known(double seconds) {
    return Double.isNaN(seconds) ? OptionalDouble.empty() : OptionalDouble.of(seconds);
  }

  /// Writes the report; the file appears whole or not at all.
  public void write(Path file) throws IOException {
    byte[] json =
        JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build()
            .writeValueAsBytes(this);
    NewFile.write(file, json);
  }

  private static String version() {
    try (InputStream in = TrainReport.class.getResourceAsStream("version.txt")) {
      return in == null ? "unknown" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }
}
