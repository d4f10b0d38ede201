// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.SecureMode;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class RecordingFigureTest {

  private static final GradientsFigure.Carrier TWO = new GradientsFigure.Carrier(2, "tcp", null);

  private static GradientsPlan plan(int steps) {
    return new GradientsPlan(
            "uniform",
            8,
            4096,
            Duration.ZERO,
            GradientsPlan.Purpose.COMPARE,
            List.of(true),
            steps,
            1)
        .recorded()
        .getFirst();
  }

  @Test
  void theCostIsThatOfTheMedianStep() {
    List<String> lines =
        List.of(
            GradientsReport.line(false, true, new long[] {100_000, 300_000, 200_000}),
            GradientsReport.line(true, true, new long[] {100_000, 204_000, 900_000}),
            "done");
    RecordingFigure figure =
        RecordingFigure.of(
            plan(3), TWO, List.of(GradientsReport.parse(lines)), BenchmarkHost.here());
    assertThat(figure.offMicros()).isEqualTo(200);
    assertThat(figure.onMicros()).isEqualTo(204);
    assertThat(figure.cost()).isEqualTo(0.02);
    assertThat(figure.text())
        .isEqualTo(
            "recording uniform, fused, 2 ranks, tcp: 200.0 us a step without, 204.0 us with: +2.0 %"
                + " (3 steps each)\n");
    List<String> half = List.of(lines.getFirst(), "done");
    assertThatThrownBy(
            () ->
                RecordingFigure.of(
                    plan(3), TWO, List.of(GradientsReport.parse(half)), BenchmarkHost.here()))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessage("the ranks' report has no steps with recording");
  }

  @Tag("long")
  @Test
  @Timeout(120)
  void realRanksTakeEquallyManyStepsWithRecordingAsWithout() throws Exception {
    var rounds = new ArrayList<String>();
    RecordingFigure figure =
        new GradientsContestant(plan(2), TWO, SecureMode.OFF, Duration.ofSeconds(100))
            .record(1, rounds::add);
    assertThat(rounds).containsExactly("round 1 of 1");
    assertThat(figure.checked()).isTrue();
    assertThat(figure.steps()).isEqualTo(2 * GradientsPlan.TURNS);
    assertThat(figure.offMicros()).isPositive();
    assertThat(figure.onMicros()).isPositive();
  }
}
