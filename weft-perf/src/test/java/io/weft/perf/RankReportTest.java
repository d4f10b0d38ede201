// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.RankReport;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RankReportTest {

  private static final MeasuringPlan PLAN = Plans.of(Benchmark.ALLREDUCE, 2, "4:3", "1024:2");

  @Test
  void linesBecomeSamples() {
    RankReport report =
        PLAN.report(
            List.of(
                "[warning of a launcher]",
                "peer openmpi 4.1.4",
                "times 4 checked 5000 6000 7000",
                "",
                "times 1024 wrong 9000 9000",
                "done"));
    assertThat(report.peer()).isEqualTo("openmpi 4.1.4");
    assertThat(report.samples()).hasSize(2);
    assertThat(report.samples().get(0).checked()).isTrue();
    assertThat(report.samples().get(0).nanos()).containsExactly(5000L, 6000L, 7000L);
    assertThat(report.samples().get(1).key()).isEqualTo("1024");
    assertThat(report.samples().get(1).checked()).isFalse();
  }

  @Test
  void figuresBelongToTheTimesBeforeThem() {
    RankReport report =
        PLAN.report(
            List.of(
                "peer weft",
                "times 4 checked 5 6 7",
                "figure requests 2.5",
                "times 1024 checked 9 9",
                "done"));
    assertThat(report.sample("4").number("requests")).isEqualTo(2.5);
    assertThat(report.samples().get(0).checked()).isTrue();
    assertThat(report.sample("1024").numbers()).isEmpty();
  }

  @Test
  void aCaseMayHaveSeveralFigures() {
    RankReport report =
        PLAN.report(
            List.of(
                "peer weft",
                "times 4 checked 5 6 7",
                "times 1024 checked 9 9",
                "figure registrations 2",
                "figure registeringNanos 1500",
                "done"));
    assertThat(report.samples().get(0).numbers()).isEmpty();
    assertThat(report.samples().get(1).numbers())
        .isEqualTo(Map.of("registrations", 2.0, "registeringNanos", 1500.0));
    assertThat(report.named("each-time").peer()).isEqualTo("each-time");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "peer x 1;times 4 checked 1 2 3;figure registrations;times 1024 checked 1 2;done",
        "times 4 checked 1 2 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 2 3;done",
        "peer x 1;times 4 checked 1 2 3;times 1024 checked 1 2",
        "peer x 1;times 4 checked 1 2;times 1024 checked 1 2;done",
        "peer x 1;times 1024 checked 1 2;times 4 checked 1 2 3;done",
        "peer x 1;times 4 checked 1 two 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 -2 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 2 3;times 1024 checked 1 2;times 4 checked 1 2 3;done",
        "peer x 1;figure requests 1;times 4 checked 1 2 3;times 1024 checked 1 2;done",
        "peer x 1;times 4 checked 1 2 3;figure requests many;times 1024 checked 1 2;done",
        "peer x 1;times;done",
        ""
      })
  void aReportThatDoesNotFitThePlanFails(String lines) {
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(() -> PLAN.report(List.of(lines.split(";"))))
        .withMessageStartingWith("a rank program printed ");
  }
}
