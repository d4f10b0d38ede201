// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that a simulated allreduce takes as long as the formula of its algorithm predicts.
@Timeout(120)
class CostModelTest {

  private static final WeftConfig CONFIG = WeftConfig.builder().build();

  @ParameterizedTest(name = "{1} KiB on {0} ranks")
  @CsvSource({
    "2, 1, recursive-doubling",
    "2, 64, recursive-doubling",
    "2, 4096, recursive-doubling",
    "2, 16385, ring",
    "4, 8, recursive-doubling",
    "4, 256, nested-direct",
    "5, 1024, ring",
    "8, 16, nested-direct",
    "8, 8192, ring",
    "12, 1024, ring",
    "16, 64, nested-halving",
    "16, 1024, ring",
    "64, 1024, nested-halving",
    "256, 1024, nested-halving",
  })
  void theChosenAlgorithmTakesThePredictedTime(int ranks, int kib, String algorithm)
      throws InterruptedException {
    assertThat(Algorithms.forAllreduce(kib * 1024L, IntStream.range(0, ranks).boxed().toList()))
        .isEqualTo(algorithm);
    agrees(algorithm, ranks, kib * 1024L);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "ring",
    "recursive-doubling",
    "nested-direct",
    "nested-halving",
    "binomial-tree",
    "hierarchical-ring"
  })
  void everyAlgorithmTakesThePredictedTime(String algorithm) throws InterruptedException {
    for (long bytes : new long[] {1 << 10, 100 << 10}) {
      agrees(algorithm, 16, bytes);
    }
  }

  private static void agrees(String algorithm, int ranks, long bytes) throws InterruptedException {
    Duration formula =
        CostModel.of(SimLink.ETHERNET, Simulation.CYCLE, CONFIG).allreduce(algorithm, ranks, bytes);
    AllreduceTime.Measured measured =
        AllreduceTime.of(
            Simulation.of(ranks)
                .hosts(ranks)
                .between(SimLink.ETHERNET)
                .config(CONFIG)
                .traceLines(0),
            Math.toIntExact(bytes / Float.BYTES),
            algorithm);
    assertThat(measured.time().toNanos() / 1e3)
        .as("us of %d bytes on %d ranks by %s", bytes, ranks, algorithm)
        .isCloseTo(formula.toNanos() / 1e3, withPercentage(5));
  }

  @Test
  void longerTensorsAndSlowerLinksCostMore() {
    CostModel near = CostModel.of(SimLink.ETHERNET, Simulation.CYCLE, CONFIG);
    CostModel far =
        CostModel.of(
            SimLink.of(Duration.ofMillis(1), 1.25e9, Duration.ZERO), Simulation.CYCLE, CONFIG);
    for (String algorithm : Algorithms.allreduceNames()) {
      assertThat(near.allreduce(algorithm, 8, 1 << 20))
          .isGreaterThan(near.allreduce(algorithm, 8, 1 << 16))
          .isLessThan(far.allreduce(algorithm, 8, 1 << 20));
    }
  }

  @Test
  void theHierarchyIsFasterOnHostsWithSeveralRanks() throws InterruptedException {
    int floats = 1 << 20;
    Duration ring = AllreduceTime.of(fourHosts(), floats, "ring").time();
    Duration hierarchical = AllreduceTime.of(fourHosts(), floats, "").time();
    assertThat(hierarchical).isLessThan(ring);
  }

  private static Simulation fourHosts() {
    return Simulation.of(16).hosts(4).between(SimLink.ETHERNET).config(CONFIG).traceLines(0);
  }
}
