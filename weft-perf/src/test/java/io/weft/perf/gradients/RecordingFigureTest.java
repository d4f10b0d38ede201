// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.SecureMode;
import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.workloads.report.MeasuredHost;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class RecordingFigureTest {

  private static final GradientsFigures.Carrier TWO = new GradientsFigures.Carrier(2, "tcp", null);

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
            "peer weft",
            "times off checked 100000 300000 200000",
            "times on checked 100000 204000 900000",
            "done");
    Figure figure = figure(lines);
    assertThat(figure.number("offMicros")).isEqualTo(200);
    assertThat(figure.number("onMicros")).isEqualTo(204);
    assertThat(figure.number("cost")).isEqualTo(0.02);
    assertThat(GradientsFigures.recordingText(figure))
        .isEqualTo(
            "recording uniform, fused, 2 ranks, tcp: 200.0 us a step without, 204.0 us with: +2.0 %"
                + " (3 steps each)\n");
    List<String> half = List.of(lines.get(0), lines.get(1), "done");
    assertThatThrownBy(() -> figure(half))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessage("a rank program printed no case on");
  }

  private static Figure figure(List<String> lines) {
    var ran = new ContestantRounds("weft", List.of(RankReport.parse(lines)));
    return GradientsFigures.recording(plan(3), TWO, ran, MeasuredHost.here());
  }

  @Tag("long")
  @Test
  @Timeout(120)
  void realRanksTakeEquallyManyStepsWithRecordingAsWithout() throws Exception {
    GradientsPlan plan = plan(2);
    var ranks = new GradientsContestant(plan, TWO, SecureMode.OFF, Duration.ofSeconds(100));
    var ran = new ContestantRounds("weft", List.of(ranks.round()));
    Figure figure = GradientsFigures.recording(plan, TWO, ran, MeasuredHost.here());
    assertThat(figure.value("checked")).isEqualTo(true);
    assertThat(figure.number("steps")).isEqualTo(2 * GradientsPlan.TURNS);
    assertThat(figure.number("offMicros")).isPositive();
    assertThat(figure.number("onMicros")).isPositive();
  }
}
