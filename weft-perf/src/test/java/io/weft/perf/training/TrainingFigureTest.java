// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.workloads.report.MeasuredHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingFigureTest {

  private static final TrainingRun RUN =
      new TrainingRun("mnist-dnn", Optional.of("djl"), 100, 20, "auto", Duration.ofMinutes(5));

  private static RankReport turn(int ranks, double samplesPerSecond) {
    double mean = 1e6 * ranks * 100 / samplesPerSecond;
    return report(samplesPerSecond, mean, 2 * mean, mean);
  }

  private static RankReport report(double rate, double p50, double p99, double mean) {
    Map<String, Double> figures =
        Map.of(
            "samplesPerSecond", rate,
            "p50Micros", p50,
            "p99Micros", p99,
            "meanMicros", mean,
            "exposedShare", 0.25,
            "waitShare", 0.125,
            "startSeconds", 3.0);
    return new RankReport(
        "weft train", List.of(new RankReport.Sample(TrainingRun.STEADY, null, List.of(), figures)));
  }

  @Test
  void theEfficiencyIsTheMedianOfRoundsAndTheBudgetAddsUp() {
    Figure figure =
        TrainingCommand.figure(
            RUN,
            2,
            new ContestantRounds("1", List.of(turn(1, 1000), turn(1, 2000), turn(1, 1000))),
            new ContestantRounds("2", List.of(turn(2, 1000), turn(2, 1000), turn(2, 1600))),
            MeasuredHost.here());

    assertThat(figure.text("engine")).isEqualTo("djl");
    assertThat(figure.number("efficiency")).isEqualTo(0.5);
    assertThat(figure.number("samplesPerSecond")).isEqualTo(1000);
    assertThat(figure.number("oneRankSamplesPerSecond")).isEqualTo(1000);
    Figure budget = figure.part("budget");
    assertThat(budget.number("aloneMicros")).isEqualTo(100_000);
    assertThat(budget.number("besideMicros")).isCloseTo(25_000, within(1.0));
    assertThat(budget.number("communicatingMicros")).isCloseTo(50_000, within(1.0));
    assertThat(budget.number("waitingMicros")).isCloseTo(25_000, within(1.0));
    assertThat(TrainingCommand.text(figure)).contains("0.50 of 2 times one").contains("(25 %)");
  }

  @Test
  void aReportWithoutSteadyStepsIsRefused(@TempDir Path directory) throws IOException {
    Path report = directory.resolve("report.json");
    Files.writeString(report, "{\"samplesPerSecond\": 10}");
    assertThatThrownBy(() -> TrainingRun.read(report, 200))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining("give more --seconds");
    Files.writeString(
        report,
        """
        {"steady": {"samplesPerSecond": 2000, "stepMillis": {"p50": 90, "p99": 200},
          "exposedShare": 0.25, "waitShare": 0.125}, "goodput": {"startUpSeconds": 3}}
        """);
    assertThat(TrainingRun.read(report, 200)).isEqualTo(report(2000, 90_000, 200_000, 100_000));
  }
}
