// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import io.weft.file.ForeignFile;
import io.weft.perf.process.Child;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.PerfException;
import io.weft.transport.limit.Refusal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// One run of `weft train`, and what its report says of the steps after the warm-up.
///
/// @param ranks that trained
/// @param samplesPerSecond over all ranks
/// @param p50Micros median time of a step
/// @param p99Micros time that 99 of 100 steps did not exceed
/// @param meanMicros mean time of a step
/// @param exposedShare of the time of the steps that communicating took, hidden behind nothing
/// @param waitShare of the time of the steps that ranks waited for a later one
/// @param startSeconds from the start of the processes until the first step, mean over the ranks
record TrainingTurn(
    int ranks,
    double samplesPerSecond,
    double p50Micros,
    double p99Micros,
    double meanMicros,
    double exposedShare,
    double waitShare,
    double startSeconds) {

  private static final String MAIN = "io.weft.launch.cli.Main";

  /// What the command has read of its archive of classes, which the ranks take too.
  private static final String ARCHIVE = "weft.archive";

  private static final int MOST_BYTES = 16 << 20;

  /// What all runs of a measurement have alike.
  ///
  /// @param workload name on the command line
  /// @param batchPerRank examples of a rank in a step
  /// @param seconds of steps, those of the warm-up included
  /// @param options further words for `weft train`
  /// @param limit for a run
  record Plan(
      String workload, int batchPerRank, double seconds, List<String> options, Duration limit) {

    Plan {
      options = List.copyOf(options);
    }
  }

  /// Trains with so many ranks, each with one thread that computes. Blocks until the run has ended.
  /// Throws `PerfException.Failed` with its last words where it fails.
  static TrainingTurn run(Plan plan, int ranks) throws InterruptedException {
    Path report = temporary();
    try {
      List<String> words = new ArrayList<>();
      words.addAll(List.of("train", plan.workload(), "-np", "" + ranks, "--threads", "1"));
      words.addAll(List.of("--batch", "" + ranks * plan.batchPerRank()));
      words.addAll(List.of("--minutes", String.format(Locale.ROOT, "%.5f", plan.seconds() / 60)));
      words.addAll(plan.options());
      words.addAll(List.of("--json", report.toString()));
      String archive = System.getProperty(ARCHIVE, "");
      List<String> flags = archive.isEmpty() ? List.of() : List.of("-D" + ARCHIVE + "=" + archive);
      List<String> command =
          new JavaProgram(MAIN, System.getProperty("java.class.path"), flags).command(words);
      Child.ChildOutput output = Child.run(command, Map.of(), plan.limit());
      if (output.exit() != 0) {
        throw new PerfException.Failed(
            "weft %s ended with %d: %s"
                .formatted(String.join(" ", words), output.exit(), output.lastWords()));
      }
      return read(report, ranks, ranks * plan.batchPerRank());
    } finally {
      remove(report);
    }
  }

  private static Path temporary() {
    try {
      return Files.createTempFile("weft-training-", ".json");
    } catch (IOException e) {
      throw new PerfException.Failed(
          "no file for the report of a training: " + Refusal.words(e), e);
    }
  }

  private static void remove(Path report) {
    try {
      Files.deleteIfExists(report);
    } catch (IOException e) {
      report.toFile().deleteOnExit();
    }
  }

  /// Reads the report of `weft train`. Throws `PerfException.Failed` where it has no steady steps.
  ///
  /// @param batch examples of a step, over all ranks
  static TrainingTurn read(Path report, int ranks, int batch) {
    JsonNode json;
    try {
      json = new JsonMapper().readTree(ForeignFile.found(report).text(MOST_BYTES));
    } catch (IOException | JacksonException e) {
      throw new PerfException.Failed("the report of a training cannot be read: " + e, e);
    }
    JsonNode steady = json.path("steady");
    if (steady.isMissingNode()) {
      throw new PerfException.Failed(
          "no step began 5 s or more after the first one; give more --seconds");
    }
    double samplesPerSecond = steady.path("samplesPerSecond").asDouble();
    return new TrainingTurn(
        ranks,
        samplesPerSecond,
        1000 * steady.path("stepMillis").path("p50").asDouble(),
        1000 * steady.path("stepMillis").path("p99").asDouble(),
        1e6 * batch / samplesPerSecond,
        steady.path("exposedShare").asDouble(),
        steady.path("waitShare").asDouble(),
        json.path("goodput").path("startUpSeconds").asDouble());
  }
}
