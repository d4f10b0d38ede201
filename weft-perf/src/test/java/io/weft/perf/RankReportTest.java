// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weft.perf.process.PerfException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RankReportTest {

  private static final MeasuringPlan PLAN = Plans.of(Benchmark.ALLREDUCE, 2, "4:3", "1024:2");

  @Test
  void linesBecomeSamples() {
    RankReport report =
        RankReport.parse(
            List.of(
                "[warning of a launcher]",
                "peer openmpi 4.1.4",
                "times 4 checked 5000 6000 7000",
                "",
                "times 1024 wrong 9000 9000",
                "done"),
            PLAN);
    assertThat(report.peer()).isEqualTo("openmpi 4.1.4");
    assertThat(report.samples()).hasSize(2);
    assertThat(report.samples().get(0).checked()).isTrue();
    assertThat(report.samples().get(0).latencies().p50Micros()).isEqualTo(6);
    assertThat(report.samples().get(1).bytes()).isEqualTo(1024);
    assertThat(report.samples().get(1).checked()).isFalse();
  }

  @Test
  void requestsBelongToTheTimesBeforeThem() {
    RankReport report =
        RankReport.parse(
            List.of(
                "peer weft",
                "times 4 checked 5 6 7",
                "requests 2.5",
                "times 1024 checked 9 9",
                "done"),
            PLAN);
    assertThat(report.samples().get(0).requests()).isEqualTo(2.5);
    assertThat(report.samples().get(0).checked()).isTrue();
    assertThat(report.samples().get(1).requests()).isNull();
  }

  @Test
  void registrationsBelongToTheTimesBeforeThem() {
    RankReport report =
        RankReport.parse(
            List.of(
                "peer weft",
                "times 4 checked 5 6 7",
                "times 1024 checked 9 9",
                "registered 2 2048 1500",
                "done"),
            PLAN);
    assertThat(report.samples().get(0).registered()).isNull();
    assertThat(report.samples().get(1).registered())
        .isEqualTo(new RankReport.Registered(2, 2048, 1.5));
    assertThat(report.named("each-time").peer()).isEqualTo("each-time");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "peer x 1;times 4 checked 1 2 3;registered 1 2;times 1024 checked 1 2;done",
        "times 4 checked 1 2 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 2 3;done",
        "peer x 1;times 4 checked 1 2 3;times 1024 checked 1 2",
        "peer x 1;times 4 checked 1 2;times 1024 checked 1 2;done",
        "peer x 1;times 1024 checked 1 2;times 4 checked 1 2 3;done",
        "peer x 1;times 4 checked 1 two 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 -2 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 2 3;times 1024 checked 1 2;times 4 checked 1 2 3;done",
        "peer x 1;requests 1;times 4 checked 1 2 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 2 3;requests many;times 1024 checked 1 2;done",
        "peer x 1;times;done",
        ""
      })
  void aReportThatDoesNotFitThePlanFails(String lines) {
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(() -> RankReport.parse(List.of(lines.split(";")), PLAN))
        .withMessageStartingWith("a rank program printed ");
  }
}
