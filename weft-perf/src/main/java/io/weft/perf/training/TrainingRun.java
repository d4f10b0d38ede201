// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import io.weft.file.ForeignFile;
import io.weft.perf.process.Child;
import io.weft.perf.process.PerfException;
import io.weft.perf.process.WeftProgram;
import io.weft.perf.report.RankReport;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A run of `weft train`, whose report becomes the only sample of a round.
///
/// @param workload name on the command line
/// @param engine that computes the workload; empty: its default
/// @param batchPerRank examples of a rank in a step
/// @param seconds duration of the steps, including the warm-up
/// @param transport transport of `weft train`
/// @param limit time limit of a run
public record TrainingRun(
    String workload,
    Optional<String> engine,
    int batchPerRank,
    double seconds,
    String transport,
    Duration limit) {

  /// The key of the sample, which covers the steps after the warm-up.
  public static final String STEADY = "steady";

  private static final int MOST_BYTES = 16 << 20;

  /// Throws `NullPointerException` if a component is null.
  public TrainingRun {
    Objects.requireNonNull(workload, "workload");
    Objects.requireNonNull(engine, "engine");
    Objects.requireNonNull(transport, "transport");
    Objects.requireNonNull(limit, "limit");
  }

  /// Trains with `ranks` ranks, each with one computing thread. Blocks until the run has ended.
  /// Throws `PerfException.Failed` with the last lines of its error output if it fails.
  public RankReport run(int ranks) throws InterruptedException {
    Path report = temporary();
    try {
      List<String> words = new ArrayList<>();
      words.addAll(List.of("train", workload, "-np", "" + ranks, "--threads", "1"));
      engine.ifPresent(name -> words.addAll(List.of("--engine", name)));
      words.addAll(List.of("--batch", "" + ranks * batchPerRank));
      words.addAll(List.of("--minutes", String.format(Locale.ROOT, "%.5f", seconds / 60)));
      words.addAll(List.of("--transport", transport, "--json", report.toString()));
      Child.ChildOutput output = Child.run(WeftProgram.command(words), limit);
      if (output.exit() != 0) {
        throw new PerfException.Failed(
            "weft %s ended with %d: %s"
                .formatted(String.join(" ", words), output.exit(), output.lastWords()));
      }
      return read(report, ranks * batchPerRank);
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
  static RankReport read(Path report, int batch) {
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
    Map<String, Double> figures =
        Map.of(
            "samplesPerSecond",
            samplesPerSecond,
            "p50Micros",
            1000 * steady.path("stepMillis").path("p50").asDouble(),
            "p99Micros",
            1000 * steady.path("stepMillis").path("p99").asDouble(),
            "meanMicros",
            1e6 * batch / samplesPerSecond,
            "exposedShare",
            steady.path("exposedShare").asDouble(),
            "waitShare",
            steady.path("waitShare").asDouble(),
            "startSeconds",
            json.path("goodput").path("startUpSeconds").asDouble());
    return new RankReport(
        "weft train", List.of(new RankReport.Sample(STEADY, null, List.of(), figures)));
  }
}
