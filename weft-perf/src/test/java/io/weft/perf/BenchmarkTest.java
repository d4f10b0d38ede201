// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

final class BenchmarkTest {

  @Test
  void busFactorsAreThoseOfOptimalAlgorithms() {
    assertThat(Benchmark.ALLREDUCE.busFactor(2)).isEqualTo(1);
    assertThat(Benchmark.ALLREDUCE.busFactor(4)).isEqualTo(1.5);
    assertThat(Benchmark.BROADCAST.busFactor(4)).isEqualTo(1);
    assertThat(Benchmark.ALLTOALL.busFactor(4)).isEqualTo(0.75);
    assertThat(Benchmark.ALLREDUCE.busFactor(1)).isZero();
  }

  @Test
  void tensorsWithAShareForEachRankAreRoundedUp() {
    assertThat(Benchmark.ALLGATHER.sizes(List.of(4L, 8L, 16L, 1024L), 3))
        .containsExactly(12L, 24L, 1032L);
    assertThat(Benchmark.ALLREDUCE.sizes(List.of(4L, 16L), 3)).containsExactly(4L, 16L);
  }

  @Test
  void aBarrierHasOneEmptyCase() {
    assertThat(Benchmark.BARRIER.sizes(List.of(4L, 16L), 3)).containsExactly(0L);
  }

  @Test
  void anUnknownNameIsRefusedWithTheKnownOnes() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Benchmark.of("scan"))
        .withMessage(
            "unknown benchmark 'scan'; allowed: allreduce, broadcast, allgather, reducescatter,"
                + " alltoall, barrier, pingpong, bandwidth, messages, writes, reads,"
                + " registration, sendrecv");
  }

  @Test
  void messagesThatAreTooShortForANumberAreRefused() {
    assertThat(Benchmark.MESSAGES.sizes(List.of(16L, 64L), 2)).containsExactly(16L, 64L);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Benchmark.MESSAGES.sizes(List.of(12L, 64L), 2))
        .withMessage(
            "--bytes: a message of 12 B is too short for its number; allowed: 16 B and more");
  }

  @Test
  void everyBenchmarkHasDefaultSizes() {
    for (Benchmark benchmark : Benchmark.values()) {
      List<Long> usual = ByteSizes.parse(benchmark.usualBytes());
      assertThat(benchmark.sizes(usual, 2)).as(benchmark.label()).isNotEmpty();
    }
  }

  @Test
  void iterationsDecreaseWithTheSize() {
    assertThat(MeasuringPlan.iterations(4)).isEqualTo(2000);
    assertThat(MeasuringPlan.iterations(1 << 20)).isEqualTo(512);
    assertThat(MeasuringPlan.iterations(64L << 20)).isEqualTo(10);
    assertThat(MeasuringPlan.iterations(0)).isEqualTo(2000);
    assertThat(Benchmark.BANDWIDTH.iterations(64 << 10)).isEqualTo(2000);
  }

  @Test
  void iterationsOfAStreamAreBatches() {
    assertThat(Benchmark.WRITES.callsPerIteration()).isEqualTo(128);
    assertThat(Benchmark.READS.iterations(64 << 10)).isEqualTo(64);
    assertThat(Plans.of(Benchmark.WRITES, 2, "65536:64").arguments())
        .containsExactly("writes:64:128", "1", "65536:64");
  }
}
