// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.CollectiveRequest.Broadcast;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Checks that a reducer without negotiation refuses a group as a whole.
class DirectGroupTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /// The program of one rank with a reducer.
  @FunctionalInterface
  private interface Body {
    void run(Weft weft, Reducer reducer) throws Exception;
  }

  private static void direct(int ranks, Body body) {
    try (LocalJob job = LocalJob.over("inproc", ranks)) {
      var unused =
          job.run(
              weft -> {
                body.run(weft, Reducer.direct(weft.communicator()));
                return true;
              });
    }
  }

  private static TensorView confined(Arena arena) {
    return new TensorView(DType.FLOAT32, Shape.of(1), arena.allocate(4));
  }

  @Test
  void aNarrowedGroupThatIsRefusedSubmitsNoTensor() {
    direct(
        2,
        (weft, reducer) -> {
          try (Arena arena = Arena.ofConfined()) {
            var first = ReductionRequest.of("a", ReducerTest.floats(1), ReduceOp.SUM);
            var bad = ReductionRequest.of("b", confined(arena), ReduceOp.SUM);
            assertThatThrownBy(() -> reducer.reduceAll(List.of(first.narrowed(DType.FLOAT16), bad)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'b'");
            // The name is free, so the refused group has left nothing in flight.
            List<TensorView> sums =
                reducer
                    .reduceAll(
                        List.of(
                            first.narrowed(DType.FLOAT16),
                            ReductionRequest.of("b", ReducerTest.floats(2), ReduceOp.SUM)))
                    .await(LIMIT);
            assertThat(ReducerTest.floats(sums.get(0))).containsExactly(2);
            assertThat(ReducerTest.floats(sums.get(1))).containsExactly(4);
          }
        });
  }

  @Test
  void aGroupOfBroadcastsWithOneBadRequestSubmitsNone() {
    direct(
        2,
        (weft, reducer) -> {
          Broadcast first = Broadcast.of("a", ReducerTest.floats(weft.rank()), 0);
          try (Arena arena = Arena.ofConfined()) {
            Broadcast own = Broadcast.of("b", confined(arena), 0);
            assertThatThrownBy(() -> reducer.submitAll(List.of(first, own)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("confined");
          }
          Broadcast beyond = Broadcast.of("b", ReducerTest.floats(weft.rank()), 2);
          assertThatThrownBy(() -> reducer.submitAll(List.of(first, beyond)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("root 2");
          assertThatThrownBy(() -> reducer.submitAll(List.of(first, first)))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("two tensors named 'a'");
          assertThat(reducer.submitAll(List.of(first)).await(LIMIT)).hasSize(1);
        });
  }

  @Test
  void aNameInFlightInTheMiddleOfAGroupFailsItsHandle() {
    direct(
        2,
        (weft, reducer) -> {
          Broadcast first = Broadcast.of("a", ReducerTest.floats(weft.rank()), 0);
          Broadcast second = Broadcast.of("b", ReducerTest.floats(weft.rank()), 0);
          if (weft.rank() == 1) {
            Handle<TensorView> earlier = reducer.submit(second);
            Handle<List<TensorView>> group = reducer.submitAll(List.of(first, second));
            reducer.barrier(LIMIT);
            assertThatThrownBy(() -> group.await(LIMIT))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("'b' of a group of rank 1 was not submitted")
                .hasMessageContaining("already in flight");
            assertThat(ReducerTest.floats(earlier.await(LIMIT))).containsExactly(0);
          } else {
            reducer.barrier(LIMIT);
            assertThat(reducer.submitAll(List.of(first, second)).await(LIMIT)).hasSize(2);
          }
        });
  }

  /// The callbacks block the threads of all reducers of rank 0.
  @Test
  void closeWaitsOnceForAllReducers() {
    int reducers = 8;
    CountDownLatch registered = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(reducers);
    CountDownLatch release = new CountDownLatch(1);
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                try (DataParallel layer = DataParallel.open(weft)) {
                  for (int i = 0; i < reducers; i++) {
                    Reducer reducer = layer.reducer(weft.communicator().duplicate("of test " + i));
                    if (weft.rank() == 1) {
                      assertThat(registered.await(60, TimeUnit.SECONDS)).isTrue();
                    }
                    Handle<TensorView> sum = reducer.reduce("g", ReducerTest.floats(1));
                    if (weft.rank() == 0) {
                      sum.whenDone(
                          (result, cause) -> {
                            blocked.countDown();
                            awaitQuietly(release);
                          });
                    }
                  }
                  if (weft.rank() == 0) {
                    registered.countDown();
                    assertThat(blocked.await(60, TimeUnit.SECONDS)).isTrue();
                    long begin = System.nanoTime();
                    layer.close(1_000_000_000L);
                    release.countDown();
                    assertThat(Duration.ofNanos(System.nanoTime() - begin))
                        .as("the wait for %d reducers", reducers)
                        .isLessThan(Duration.ofSeconds(5));
                  } else {
                    assertThat(release.await(60, TimeUnit.SECONDS)).isTrue();
                  }
                } finally {
                  release.countDown();
                }
                return true;
              });
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void theReportedThresholdIsTheOneInUse() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                var options =
                    DataParallelOptions.of(weft.config()).with(Fusion.ON).withThreshold(100_000);
                try (DataParallel layer = DataParallel.open(weft, options)) {
                  Reducer reducer = layer.reducer(weft.communicator());
                  for (long[] expected :
                      new long[][] {{70_000, 65_536}, {100_000, 100_000}, {1 << 20, 100_000}}) {
                    reducer.fusionThreshold(expected[0]);
                    assertThat(reducer.fusionThreshold()).isEqualTo(expected[1]);
                  }
                }
                return true;
              });
    }
  }
}
