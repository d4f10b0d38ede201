// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that the contract of a reducer holds with default settings on every transport.
class OneContractTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(300);

  /// The program of one rank with a reducer.
  @FunctionalInterface
  private interface Body {
    void run(Weft weft, Reducer reducer) throws Exception;
  }

  private static void with(String transport, int ranks, Duration deadline, Body body) {
    try (LocalJob job = LocalJob.over(transport, ranks)) {
      var unused =
          job.run(
              weft -> {
                var options =
                    DataParallelOptions.of(weft.config())
                        .withLimits(Duration.ofSeconds(10), deadline);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  body.run(weft, parallel.reducer(weft.communicator()));
                }
                return true;
              });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm", "tcp"})
  void aRankWithoutDataJoins(String transport) {
    with(
        transport,
        3,
        LIMIT,
        (weft, reducer) -> {
          for (int batch = 0; batch < 2 + weft.rank(); batch++) {
            var request = ReductionRequest.of("g", ReducerTest.floats(1), ReduceOp.SUM);
            TensorView sum = reducer.allreduce(request).await(LIMIT);
            int with = 3 - Math.max(0, batch - 1);
            assertThat(ReducerTest.floats(sum)).as("batch %d", batch).containsExactly(with);
          }
          assertThat(reducer.join().await(LIMIT)).isEqualTo(2);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm", "tcp"})
  void aTensorThatIsLateOrDiffersFailsAlone(String transport) {
    with(
        transport,
        2,
        LIMIT,
        (weft, reducer) -> {
          TensorView mine = weft.rank() == 0 ? ReducerTest.floats(1) : ReducerTest.floats(1, 2);
          assertThatThrownBy(() -> reducer.reduce("differs", mine).await(LIMIT))
              .isInstanceOf(CommException.Mismatch.class);
          if (weft.rank() == 0) {
            var late = ReductionRequest.of("late", ReducerTest.floats(1), ReduceOp.SUM);
            assertThatThrownBy(() -> reducer.allreduce(late.within(SHORT)).await(LIMIT))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("never submitted 'late'");
          }
          assertThat(ReducerTest.floats(reducer.reduce("g", ReducerTest.floats(4)).await(LIMIT)))
              .containsExactly(4);
        });
  }

  @ParameterizedTest
  @CsvSource({"inproc,0", "shm,0", "shm,1", "tcp,0"})
  void theLimitOfAFirstTensorCountsFromItsSubmission(String transport, int group) {
    CountDownLatch failed = new CountDownLatch(1);
    try (LocalJob job = LocalJob.over(transport, 2)) {
      var unused =
          job.run(
              weft -> {
                var options =
                    DataParallelOptions.of(weft.config())
                        .withLimits(Duration.ofMillis(100), weft.rank() == 0 ? SHORT : LIMIT);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  if (weft.rank() == 1) {
                    assertThat(failed.await(60, TimeUnit.SECONDS)).isTrue();
                  }
                  Reducer reducer = parallel.reducer(weft.communicator());
                  assertThatThrownBy(() -> first(reducer, group).await(LIMIT))
                      .isInstanceOf(CommException.Broken.class)
                      .hasMessageContaining(
                          weft.rank() == 0 ? "to make their reducer" : "rank 0 on")
                      .hasMessageContaining("'first'");
                  if (weft.rank() == 0) {
                    failed.countDown();
                  }
                  // A repeated submission matches that of the other rank.
                  for (float value : new float[] {3, 5}) {
                    var again =
                        ReductionRequest.of("first", ReducerTest.floats(value), ReduceOp.SUM);
                    TensorView sum = reducer.allreduce(again.within(LIMIT)).await(LIMIT);
                    assertThat(ReducerTest.floats(sum)).containsExactly(2 * value);
                  }
                }
                return true;
              });
    }
  }

  private static Handle<?> first(Reducer reducer, int group) {
    var first = ReductionRequest.of("first", ReducerTest.floats(1), ReduceOp.SUM);
    var second = ReductionRequest.of("second", ReducerTest.floats(1), ReduceOp.SUM);
    return group == 0 ? reducer.allreduce(first) : reducer.reduceAll(List.of(first, second));
  }

  @Test
  void theLimitsOfTheOptionsApplyWithoutNegotiation() {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      var unused =
          job.run(
              weft -> {
                var options =
                    DataParallelOptions.of(weft.config())
                        .with(Fusion.OFF)
                        .withLimits(Duration.ofSeconds(10), SHORT);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  reducer.barrier(LIMIT);
                  if (weft.rank() == 0) {
                    assertThatThrownBy(
                            () -> reducer.reduce("g", ReducerTest.floats(1)).await(LIMIT))
                        .isInstanceOf(CommException.Aborted.class);
                    assertThatThrownBy(reducer::join)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("fusion");
                  }
                  // The communicator of the reducer still works.
                  weft.communicator()
                      .barrier(io.weft.collective.CollectiveOptions.named("end").within(LIMIT))
                      .await(LIMIT);
                }
                return true;
              });
    }
  }

  @Test
  void longTensorsAreSentAloneAndShortOnesTogetherOnOneHost() {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      var unused =
          job.run(
              weft -> {
                assertThat(weft.communicator().fuses(4096)).isTrue();
                assertThat(weft.communicator().fuses(1 << 20)).isFalse();
                try (DataParallel parallel = DataParallel.open(weft)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  assertThat(reducer.describe()).contains("negotiated", "table");
                  List<Handle<TensorView>> sums = new ArrayList<>();
                  for (int i = 0; i < 40; i++) {
                    float[] values = new float[i % 4 == 0 ? 1 << 15 : 8];
                    values[0] = i;
                    TensorView tensor = ReducerTest.floats(values);
                    sums.add(reducer.allreduce(ReductionRequest.of("g" + i, tensor, ReduceOp.SUM)));
                  }
                  for (int i = 0; i < sums.size(); i++) {
                    assertThat(ReducerTest.floats(sums.get(i).await(LIMIT))[0]).isEqualTo(2 * i);
                  }
                }
                return true;
              });
    }
  }

  @Test
  void allTensorsAreSentTogetherOverANetwork() {
    try (LocalJob job = LocalJob.over("tcp", 2)) {
      var unused =
          job.run(
              weft -> {
                assertThat(weft.communicator().fuses(4096)).isTrue();
                assertThat(weft.communicator().fuses(1 << 20)).isTrue();
                return true;
              });
    }
  }
}
