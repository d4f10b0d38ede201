// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.CollectiveOptions;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StopwatchTest {

  private static final long BYTES = 12_000;

  private final CaseTensors tensors = CaseTensors.ofThisProgram();

  @AfterEach
  void free() {
    tensors.close();
  }

  private Stopwatch stopwatch(String benchmark, int spoilEvery) {
    LoneCommunicator communicator = new LoneCommunicator(spoilEvery);
    Bench bench =
        new Bench(
            communicator,
            CollectiveOptions.named("test"),
            new Tiles(tensors.arena(), 1),
            tensors,
            BYTES);
    return new Stopwatch(RankGroup.of(communicator), Work.of(benchmark, bench), BYTES);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"allreduce", "broadcast", "allgather", "reducescatter", "alltoall", "barrier"})
  void rightResultsAreChecked(String benchmark) throws InterruptedException {
    Stopwatch stopwatch = stopwatch(benchmark, 0);
    stopwatch.warmUp(1_000_000, 1_000_000_000);
    Stopwatch.IterationTimes times = stopwatch.measure(20);
    assertThat(times.allRight()).isTrue();
    assertThat(times.nanos()).hasSize(20);
    assertThat(LongStream.of(times.nanos())).allMatch(nanos -> nanos > 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"allreduce", "broadcast", "allgather", "reducescatter", "alltoall"})
  void oneWrongElementInOneIterationIsFound(String benchmark) throws InterruptedException {
    Stopwatch.IterationTimes times = stopwatch(benchmark, 17).measure(20);
    assertThat(times.allRight()).isFalse();
    assertThat(times.rightHere()).isFalse();
  }

  @Test
  void warmingUpWithoutTimeStillIterates() throws InterruptedException {
    Stopwatch stopwatch = stopwatch("allreduce", 0);
    stopwatch.warmUp(0, 0);
    assertThat(stopwatch.measure(1).nanos()).hasSize(1);
  }
}
