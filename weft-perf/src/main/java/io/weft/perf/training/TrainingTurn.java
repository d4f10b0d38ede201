// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import io.weft.file.ForeignFile;
import io.weft.perf.process.Child;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.PerfException;
import io.weft.transport.limit.IoErrors;
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

/// One run of `weft train` and the report of its steps after the warm-up.
///
/// @param ranks number of ranks
/// @param samplesPerSecond rate of all ranks together
/// @param p50Micros median time of a step
/// @param p99Micros time that 99 of 100 steps did not exceed
/// @param meanMicros mean time of a step
/// @param exposedShare share of exposed communication in the time of the steps
/// @param waitShare share of waiting for a later rank in the time of the steps
/// @param startSeconds time from the start of the processes to the first step, mean over the ranks
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

  /// The property with the path of the archive of classes, which is passed on to the ranks.
  private static final String ARCHIVE = "weft.archive";

  private static final int MOST_BYTES = 16 << 20;

  /// The settings that are common to all runs of a measurement.
  ///
  /// @param workload name on the command line
  /// @param batchPerRank examples of a rank in a step
  /// @param seconds duration of the steps, including the warm-up
  /// @param options further arguments of `weft train`
  /// @param limit time limit of a run
  record Plan(
      String workload, int batchPerRank, double seconds, List<String> options, Duration limit) {

    Plan {
      options = List.copyOf(options);
    }
  }

  /// Trains with `ranks` ranks, each with one computing thread. Blocks until the run has ended.
  /// Throws `PerfException.Failed` with the last lines of its error output if it fails.
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
          "cannot create a file for the report of a training: " + IoErrors.words(e), e);
    }
  }

  private static void remove(Path report) {
    try {
      Files.deleteIfExists(report);
    } catch (IOException e) {
      report.toFile().deleteOnExit();
    }
  }

  /// Reads the report of `weft train`. Throws `PerfException.Failed` if it has no steps after the
  /// warm-up.
  ///
  /// @param batch examples of a step over all ranks
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
