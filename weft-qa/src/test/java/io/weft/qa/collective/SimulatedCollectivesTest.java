// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks failures that depend on the order of events, in orders that a simulation generates.
@Timeout(60)
class SimulatedCollectivesTest {

  private static final int LONG = 50_000; // 200 kB: many more segments than slots of a window

  static java.util.List<String> algorithms() {
    return Algorithms.allreduceNames();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void aTensorMayBeLongerThanTheWindow(String algorithm) throws InterruptedException {
    sumsALongTensor(5, algorithm);
  }

  @ParameterizedTest(name = "{0} hosts")
  @ValueSource(ints = {1, 2, 3})
  void ranksMayShareHosts(int hosts) throws InterruptedException {
    sumsALongTensor(hosts, "hierarchical-ring");
    sumsALongTensor(hosts, "nested-direct");
    sumsALongTensor(hosts, "nested-halving");
    sumsALongTensor(hosts, "rank-order");
  }

  private static void sumsALongTensor(int hosts, String algorithm) throws InterruptedException {
    WeftConfig config =
        WeftConfig.builder()
            .eagerBytes(256)
            .segmentBytes(4096)
            .deadline(Duration.ofSeconds(5))
            .build();
    SimReport<Integer> report =
        Simulation.of(5)
            .hosts(hosts)
            .config(config)
            .run(
                weft -> {
                  try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(LONG))) {
                    for (long i = 0; i < LONG; i++) {
                      t.view().data().setAtIndex(JAVA_INT, i, weft.rank() + (int) i);
                    }
                    weft.communicator()
                        .allreduce(t.view(), t.view(), ReduceOp.SUM, named("g").by(algorithm))
                        .await();
                    int wrong = 0;
                    for (long i = 0; i < LONG; i++) {
                      wrong += t.view().data().getAtIndex(JAVA_INT, i) == 10 + 5 * i ? 0 : 1;
                    }
                    return wrong;
                  }
                });
    assertThat(report.values()).containsOnly(0);
  }

  @Test
  void aRankThatSubmitsAfterTheRootHasLeftGetsTheBroadcast() throws InterruptedException {
    SimReport<Integer> report =
        Simulation.of(3)
            .hosts(3)
            .runRanks(
                self -> {
                  try (Weft weft = self.join();
                      OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
                    t.view().data().set(JAVA_INT, 0, self.rank() == 0 ? 42 : 0);
                    if (self.rank() > 0) {
                      self.compute(Duration.ofMillis(100 * self.rank()));
                    }
                    weft.communicator().broadcast(t.view(), 0, named("b")).await();
                    return t.view().data().get(JAVA_INT, 0);
                  }
                });
    assertThat(report.values()).containsOnly(42);
  }
}
