// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.workloads.report.MeasuredHost;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RatioTableTest {

  private static final MeasuredHost HOST =
      new MeasuredHost("a CPU", 2, 1L << 34, "Linux 6", "25", 0.5);
  private static final MeasuringPlan PLAN = Plans.of(Benchmark.ALLREDUCE, 2, "1048576:3");

  private static final PerfFigures.Handovers NEVER_MOVED = new PerfFigures.Handovers(null, null);

  private static Figure measured(String peer, @Nullable Boolean checked, double... p50s) {
    List<RankReport.Sample> rounds =
        java.util.Arrays.stream(p50s)
            .mapToObj(p50 -> new Latencies(p50, 2 * p50, p50 / 2, p50).sample("1048576", checked))
            .toList();
    return PerfFigures.of(PLAN, PLAN.cases().getFirst(), peer, rounds, NEVER_MOVED, HOST);
  }

  @Test
  void theBandwidthIsComputedFromTheMedianOfRounds() {
    Figure measurement = measured("weft", true, 300, 100, 200);
    assertThat(measurement.number("p50Micros")).isEqualTo(200);
    assertThat(measurement.number("minMicros")).isEqualTo(50);
    assertThat(measurement.number("rounds")).isEqualTo(3);
    assertThat(measurement.number("gigabytesPerSecond")).isCloseTo(5.24288, within(1e-5));
    assertThat(measurement.number("busGigabytesPerSecond")).isCloseTo(5.24288, within(1e-5));
  }

  @Test
  void aRatioAboveOneMeansThatWeftIsFaster() {
    Figure weft = measured("weft", true, 100);
    Figure peer = measured("openmpi 4.1.4", true, 250);
    assertThat(RatioTable.p50Ratio(weft, peer)).isEqualTo(2.5);
    assertThat(peer.number("busGigabytesPerSecond") * 2.5)
        .isCloseTo(weft.number("busGigabytesPerSecond"), within(1e-4));
    assertThat(new RatioTable(List.of(weft, peer)).text())
        .contains("allreduce, 2 ranks, tcp, private tensors, 1 round; a CPU, 2 cores, load 0.50")
        .contains("weft / openmpi 4.1.4")
        .containsPattern("1 MiB +100\\.0 +10\\.486 +250\\.0 +4\\.194 +2\\.50 +2\\.50 +2\\.50");
  }

  @Test
  void aPeerWithoutChecksIsNeitherRightNorWrong() {
    Figure weft = measured("weft", true, 100);
    Figure peer = measured("ib_write_bw 6.06", null, 250);
    assertThat(peer.has("checked")).isFalse();
    assertThat(peer.isWrong()).isFalse();
    assertThat(new RatioTable(List.of(weft, peer)).text()).doesNotContain("WRONG");
  }

  @Test
  void pairsAreTheMedianOfTheRatiosOfRounds() {
    Figure weft = measured("weft", true, 100, 200, 400);
    Figure peer = measured("gloo 0.5.0", true, 300, 200, 500);
    assertThat(RatioTable.p50Ratio(weft, peer)).isEqualTo(1.5);
    assertThat(RatioTable.pairsRatio(weft, peer)).isEqualTo(1.25);
    assertThat(RatioTable.bestRatio(weft, peer)).isEqualTo(2);
  }

  @Test
  void severalPeersAreListedSideBySide() {
    List<Figure> all =
        List.of(
            measured("weft", true, 100),
            measured("openmpi 4.1.4", true, 250),
            measured("gloo 0.5.0", true, 400));
    assertThat(new RatioTable(all).text())
        .contains("weft / openmpi 4.1.4")
        .contains("weft / gloo 0.5.0")
        .containsPattern("1 MiB .* 2\\.50 +2\\.50 +2\\.50 +4\\.00 +4\\.00 +4\\.00");
  }

  @Test
  void weftAloneHasNoRatios() {
    assertThat(new RatioTable(List.of(measured("weft", true, 100))).text()).doesNotContain("/ ");
  }

  @Test
  void stepsAreListedByTensorsAndAboveTheEmptyStep() {
    MeasuringPlan plan = Plans.of(Benchmark.SENDRECV, 2, "0:1:0", "4:1:1", "4:1:100");
    List<Figure> all = new ArrayList<>();
    all.addAll(steps(plan, "weft", 2.0, 10, 60, 100));
    all.addAll(steps(plan, "grpc tensorflow 2.18.0", null, 100, 300, 1000));
    assertThat(all.getLast().has("requestsPerStep")).isFalse();
    assertThat(all.get(2).number("requestsPerStep")).isEqualTo(2);
    assertThat(all.get(2).number("gigabytesPerSecond")).isCloseTo(0.004, within(1e-9));
    assertThat(new RatioTable(all).text())
        .containsPattern("empty step +10\\.0 .* 10\\.00 ")
        .containsPattern("1 x 4 B +60\\.0 .* 5\\.00 ")
        .containsPattern("100 x 4 B +100\\.0 .* 10\\.00 ")
        .contains("1 x 4 B above the empty step: 50.0 us, grpc tensorflow 2.18.0 200.0 us,")
        .contains("ratio 4.00");
  }

  private static List<Figure> steps(
      MeasuringPlan plan, String peer, @Nullable Double requests, double... p50s) {
    List<Figure> measured = new ArrayList<>();
    for (int i = 0; i < p50s.length; i++) {
      RankCase one = plan.cases().get(i);
      Latencies latencies = new Latencies(p50s[i], p50s[i], p50s[i], p50s[i]);
      RankReport.Sample sample = latencies.sample(one.key(), true);
      Map<String, Double> numbers = new HashMap<>(sample.numbers());
      if (requests != null) {
        numbers.put("requests", requests);
      }
      var told = new RankReport.Sample(one.key(), true, List.of(), numbers);
      measured.add(PerfFigures.of(plan, one, peer, List.of(told), NEVER_MOVED, HOST));
    }
    return measured;
  }

  @Test
  void theTableReportsMovedProcessors() {
    assertThat(after(120, 560, 130))
        .contains("a cache line between processors and back took 120 to 560 ns");
    assertThat(after(120, 200, 130)).doesNotContain("a cache line");
  }

  @Test
  void theTableReportsTheNumberOfDiscardedRounds() {
    assertThat(after(120, 130)).doesNotContain("discarded");
    assertThat(leavingOut(3, 120, 130))
        .contains("rounds discarded because of a longer handover before or after: 3");
  }

  private static String after(Integer... handovers) {
    return leavingOut(null, handovers);
  }

  private static String leavingOut(@Nullable Integer moved, Integer... handovers) {
    RankReport.Sample sample = new Latencies(100, 200, 50, 100).sample("1048576", true);
    Figure measured =
        PerfFigures.of(
            PLAN,
            PLAN.cases().getFirst(),
            "weft",
            java.util.Collections.nCopies(handovers.length, sample),
            new PerfFigures.Handovers(List.of(handovers), moved),
            HOST);
    return new RatioTable(List.of(measured)).text();
  }

  @Test
  void aWrongResultIsShown() {
    Figure peer = measured("openmpi 4.1.4", false, 250);
    assertThat(new RatioTable(List.of(measured("weft", true, 100), peer)).text())
        .contains("WRONG RESULT");
  }
}
