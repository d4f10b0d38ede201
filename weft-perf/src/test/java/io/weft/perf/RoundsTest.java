// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.perf.Rounds.RoundContestant;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.workloads.report.MeasuredHost;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RoundsTest {

  private static final MeasuringPlan PLAN = Plans.of(Benchmark.ALLREDUCE, 2, "4:1");
  private static final MeasuredHost HOST =
      new MeasuredHost("a CPU", 2, 1L << 34, "Linux 6", "25", 0.5);

  private final List<String> order = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();

  private RoundContestant contestant(String name) {
    return new RoundContestant(
        name,
        stage -> {
          order.add(name);
          var sample = new Latencies(1, 1, 1, order.size()).sample("4", true);
          return new RankReport(name, List.of(sample));
        });
  }

  /// Returns a meter that gives these times in turn, and then the last one repeatedly.
  private static Rounds.Meter meter(@Nullable Integer... nanos) {
    Deque<Optional<Integer>> left = new ArrayDeque<>();
    Stream.of(nanos).map(Optional::ofNullable).forEach(left::add);
    return () -> (left.size() > 1 ? left.removeFirst() : left.getFirst()).orElse(null);
  }

  private List<Figure> run(@Nullable Integer most, Rounds.Meter meter, int rounds)
      throws InterruptedException {
    return new Rounds(PLAN, rounds, most, meter, Duration.ofMillis(900), lines::add)
        .run(List.of(contestant("weft"), contestant("peer")), HOST);
  }

  @Test
  void eachRoundCountsWithoutALimit() throws InterruptedException {
    List<Figure> measured = run(null, meter(60, 300, 60, 300), 2);
    assertThat(order).containsExactly("weft", "peer", "weft", "peer");
    assertThat(measured).allMatch(m -> m.value("roundHandoverNanos").equals(List.of(60, 300)));
    assertThat(measured).allMatch(m -> !m.has("roundsMoved"));
  }

  @Test
  void aRoundWaitsForNearProcessorsAndIsRepeatedAfterAMove() throws InterruptedException {
    List<Figure> measured = run(150, meter(300, 300, 61, 400, 64, 310, 65, 66), 1);
    assertThat(order).containsExactly("weft", "peer", "weft", "peer", "weft", "peer");
    assertThat(measured).allMatch(m -> m.value("roundHandoverNanos").equals(List.of(65)));
    assertThat(measured).allMatch(m -> m.number("roundsMoved") == 2);
    assertThat(measured.getLast().number("meanMicros")).as("the round that counts").isEqualTo(6);
    assertThat(lines)
        .contains(
            "round 1 of 1: weft, peer, again: a cache line took 61 ns before and 400 ns after");
  }

  @Test
  void aMeasurementFailsIfTheProcessorsAlwaysMove() {
    Rounds.Meter restless =
        new Rounds.Meter() {
          private int calls;

          @Override
          public Integer nanos() {
            return calls++ % 2 == 0 ? 60 : 300;
          }
        };
    assertThatThrownBy(() -> run(150, restless, 1))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining(
            "round 1 of 1: weft, peer: the processors were moved apart in each of 30")
        .hasMessageContaining("--handover");
  }

  @Test
  void aMeasurementFailsIfTheProcessorsStayApart() {
    assertThatThrownBy(() -> run(150, meter(320, 310), 1))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining("150 ns, the fastest took 310 ns; give a larger one");
    assertThat(order).isEmpty();
  }

  @Test
  void aMeterWithoutAResultIsReadAgain() throws InterruptedException {
    List<Figure> measured = run(150, meter(null, 60, null, null, 61, 62), 1);
    assertThat(order).containsExactly("weft", "peer", "weft", "peer");
    assertThat(measured.getFirst().number("roundsMoved")).isEqualTo(1);
    assertThat(lines)
        .contains(
            "round 1 of 1: weft, peer, again: a cache line took 60 ns before and too long after");
  }

  @Test
  void aSingleProcessorIsNotEnough() {
    assertThatThrownBy(() -> run(150, () -> null, 1))
        .isInstanceOf(PerfException.Missing.class)
        .hasMessageContaining("--handover");
    assertThat(order).isEmpty();
  }
}
