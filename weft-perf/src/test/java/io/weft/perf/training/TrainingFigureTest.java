// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingFigureTest {

  private static final TrainingTurn.Plan PLAN =
      new TrainingTurn.Plan("mnist-dnn", 100, 20, List.of(), Duration.ofMinutes(5));

  private static TrainingTurn turn(int ranks, double samplesPerSecond) {
    double mean = 1e6 * ranks * 100 / samplesPerSecond;
    return new TrainingTurn(ranks, samplesPerSecond, mean, 2 * mean, mean, 0.25, 0.125, 3);
  }

  @Test
  void theEfficiencyIsTheMedianOfRoundsAndTheBudgetAddsUp() {
    TrainingFigure figure =
        TrainingFigure.of(
            PLAN,
            List.of(turn(1, 1000), turn(1, 2000), turn(1, 1000)),
            List.of(turn(2, 1000), turn(2, 1000), turn(2, 1600)),
            BenchmarkHost.here());

    assertThat(figure.efficiency()).isEqualTo(0.5);
    assertThat(figure.samplesPerSecond()).isEqualTo(1000);
    assertThat(figure.oneRankSamplesPerSecond()).isEqualTo(1000);
    TrainingFigure.Budget budget = figure.budget();
    assertThat(budget.aloneMicros()).isEqualTo(100_000);
    assertThat(budget.besideMicros()).isCloseTo(25_000, within(1.0));
    assertThat(budget.communicatingMicros()).isCloseTo(50_000, within(1.0));
    assertThat(budget.waitingMicros()).isCloseTo(25_000, within(1.0));
    assertThat(figure.text()).contains("0.50 of 2 times one").contains("(25 %)");
  }

  @Test
  void aReportWithoutSteadyStepsIsRefused(@TempDir Path directory) throws IOException {
    Path report = directory.resolve("report.json");
    Files.writeString(report, "{\"samplesPerSecond\": 10}");
    assertThatThrownBy(() -> TrainingTurn.read(report, 2, 200))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining("give more --seconds");
    Files.writeString(
        report,
        """
        {"steady": {"samplesPerSecond": 2000, "stepMillis": {"p50": 90, "p99": 200},
          "exposedShare": 0.25, "waitShare": 0.125}, "goodput": {"startUpSeconds": 3}}
        """);
    assertThat(TrainingTurn.read(report, 2, 200))
        .isEqualTo(new TrainingTurn(2, 2000, 90_000, 200_000, 100_000, 0.25, 0.125, 3));
  }
}
