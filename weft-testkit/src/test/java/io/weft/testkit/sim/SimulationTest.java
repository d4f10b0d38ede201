// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.network.SimLink;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SimulationTest {

  private static final Duration MILLISECOND = Duration.ofMillis(1);

  /// Sums `elements` floats `times` times, and returns the sum of all ranks' numbers plus one.
  private static float sum(Weft weft, int elements, int times) throws InterruptedException {
    float result = 0;
    try (OwnedTensor t = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
      for (int i = 0; i < times; i++) {
        for (long e = 0; e < elements; e++) {
          t.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, e, weft.rank() + 1);
        }
        weft.communicator()
            .allreduce(t.view(), t.view(), ReduceOp.SUM, named("g").within(Duration.ofSeconds(4)))
            .await();
        result = t.view().data().getAtIndex(ValueLayout.JAVA_FLOAT, elements - 1);
      }
    }
    return result;
  }

  @Test
  void blockingProgramsGetTheirSumsInVirtualTime() throws InterruptedException {
    SimReport<Float> report =
        Simulation.of(8)
            .hosts(2)
            .between(SimLink.ETHERNET.jittered(Duration.ofNanos(50_000)))
            .run(weft -> sum(weft, 100_000, 3));
    assertThat(report.values()).containsOnly(36f);
    assertThat(report.virtual()).isBetween(MILLISECOND, Duration.ofSeconds(1));
  }

  @Test
  void anExecutorRunsItsTasksInOrderInVirtualTime() throws InterruptedException {
    SimReport<String> report =
        Simulation.of(1)
            .run(
                weft -> {
                  var ran = new StringBuilder();
                  AgentRunner runner = weft.channel().runner();
                  try (ExecutorService files = weft.runners().executor("files")) {
                    for (int i = 0; i < 3; i++) {
                      int task = i;
                      files.execute(() -> ran.append(task));
                    }
                    assertThat(ran).isEmpty();
                    long end = runner.nanos() + 1_000_000_000L;
                    assertThat(runner.await(() -> ran.length() == 3, end)).isTrue();
                    assertThat(runner.await(() -> false, runner.nanos() + 5_000_000)).isFalse();
                  }
                  return ran.toString();
                });
    assertThat(report.values()).containsExactly("012");
    assertThat(report.virtual()).isBetween(MILLISECOND.multipliedBy(5), Duration.ofSeconds(1));
  }

  @Test
  void theTopologyIsTheSimulatedOne() throws InterruptedException {
    SimReport<String> report =
        Simulation.of(4)
            .hosts(2)
            .run(weft -> weft.localRank() + "/" + weft.localSize() + " " + weft.crossRank());
    assertThat(report.values()).containsExactly("0/2 0", "1/2 0", "0/2 1", "1/2 1");
  }

  @Test
  void theSeedDeterminesTheTrace() throws InterruptedException {
    Trace first = shaken(5).trace();
    Trace again = shaken(5).trace();
    assertThat(again.lines()).isEqualTo(first.lines());
    assertThat(first.lines()).anyMatch(line -> line.endsWith("eager for 'g', use 1"));
    assertThat(again.hash()).isEqualTo(first.hash());
    assertThat(shaken(6).trace().hash()).isNotEqualTo(first.hash());
  }

  private static SimReport<Float> shaken(long seed) throws InterruptedException {
    return Simulation.of(5)
        .hosts(5)
        .seed(seed)
        .between(SimLink.ETHERNET.jittered(Duration.ofNanos(90_000)))
        .fault(new SimFault.Pause(Duration.ofMillis(2), Duration.ofMillis(30), 3))
        .run(weft -> sum(weft, 3000, 5));
  }

  @Test
  void computingTakesVirtualTimeOnly() throws InterruptedException {
    SimReport<Duration> report =
        Simulation.of(2)
            .runRanks(
                self -> {
                  self.compute(Duration.ofSeconds(400));
                  return self.now();
                });
    assertThat(report.values()).allMatch(now -> now.compareTo(Duration.ofSeconds(400)) >= 0);
  }

  @Test
  void allOtherRanksNameADeadRank() throws InterruptedException {
    SimReport<Float> report =
        Simulation.of(4)
            .hosts(4)
            .fault(new SimFault.Crash(Duration.ofMillis(5), 2))
            .run(weft -> sum(weft, 1000, 1000));
    assertThat(report.outcomes().get(2)).isInstanceOf(RankResult.Died.class);
    for (int rank : new int[] {0, 1, 3}) {
      assertThat(report.outcomes().get(rank)).isInstanceOf(RankResult.Threw.class);
      Throwable cause = ((RankResult.Threw<Float>) report.outcomes().get(rank)).cause();
      assertThat(cause).isInstanceOf(CommException.class).hasMessageContaining("rank 2");
    }
    assertThat(report.summary()).contains("Crash", "rank 2 died", "seed 1");
  }

  @Test
  void aProgramThatWaitsForeverIsReportedAsHanging() throws InterruptedException {
    SimReport<Float> report =
        Simulation.of(2)
            .limit(Duration.ofSeconds(1))
            .run(weft -> weft.rank() == 0 ? 0f : sum(weft, 10, 1) + sum(weft, 10, 1));
    // Rank 0 leaves at once, so rank 1 fails. A hang requires a deadline beyond the limit.
    assertThat(report.hung()).isEmpty();
    SimReport<Float> hanging =
        Simulation.of(2)
            .limit(Duration.ofSeconds(1))
            .runRanks(
                self -> {
                  try (Weft weft = self.join()) {
                    if (self.rank() == 0) {
                      self.compute(Duration.ofHours(1));
                    }
                    return sum(weft, 10, 1);
                  }
                });
    assertThat(hanging.hung()).extracting(RankResult.Hung::rank).containsExactly(0, 1);
    assertThat(hanging.summary()).contains("rank 1 hangs").contains("CompletableHandle.await");
  }

  @Test
  void aProgramThatBlocksOutsideVirtualTimeIsNamed() {
    LinkedBlockingQueue<Integer> never = new LinkedBlockingQueue<>();
    assertThatThrownBy(
            () ->
                Simulation.of(3)
                    .realTimeLimit(Duration.ofSeconds(5))
                    .run(weft -> weft.rank() == 1 ? never.take() : weft.rank()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("rank 1")
        .hasMessageContaining("outside virtual time");
  }
}
