// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.property.Property;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks callers that drive their own operations in place of the layer's thread.
@Timeout(120)
class DriveTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /// The program of one rank with a reducer.
  @FunctionalInterface
  private interface Body {
    void run(Weft weft, Reducer reducer) throws Exception;
  }

  private static void with(String transport, int ranks, Fusion fusion, Body body) {
    try (LocalJob job = LocalJob.over(transport, ranks)) {
      var unused =
          job.run(
              weft -> {
                var options = DataParallelOptions.of(weft.config()).with(fusion);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  reducer.barrier(LIMIT);
                  body.run(weft, reducer);
                  reducer.barrier(LIMIT);
                }
                return true;
              });
    }
  }

  private static ReductionRequest sum(String name, float... values) {
    return ReductionRequest.of(name, ReducerTest.floats(values), ReduceOp.SUM);
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm", "tcp"})
  void drivenOperationsCompleteOnTheDrivingThread(String transport) {
    for (Fusion fusion : List.of(Fusion.AUTO, Fusion.OFF)) {
      with(
          transport,
          3,
          fusion,
          (weft, reducer) -> {
            int byThisThread = 0;
            for (int step = 0; step < 200; step++) {
              List<ReductionRequest> group =
                  List.of(sum("a" + step, 1, 2), sum("b" + step, weft.rank()));
              AtomicReference<Thread> ended = new AtomicReference<>();
              Handle<List<TensorView>> handle =
                  reducer.drive(
                      () -> {
                        Handle<List<TensorView>> submitted = reducer.reduceAll(group);
                        submitted.whenDone((sums, cause) -> ended.set(Thread.currentThread()));
                        return submitted;
                      },
                      LIMIT);
              List<TensorView> sums = handle.await(LIMIT);
              assertThat(ReducerTest.floats(sums.get(0))).containsExactly(3, 6);
              assertThat(ReducerTest.floats(sums.get(1))).containsExactly(3);
              byThisThread += ended.get() == Thread.currentThread() ? 1 : 0;
            }
            assertThat(byThisThread).as("steps that ended on the caller's thread").isPositive();
          });
    }
  }

  @Test
  void theLayerContinuesIfARankIsLaterThanTheLimit() {
    CountDownLatch driven = new CountDownLatch(1);
    with(
        "inproc",
        2,
        Fusion.AUTO,
        (weft, reducer) -> {
          Handle<TensorView> handle;
          if (weft.rank() == 0) {
            handle = reducer.drive(() -> reducer.allreduce(sum("late", 1)), Duration.ofMillis(20));
            assertThat(handle.isDone()).isFalse();
            driven.countDown();
          } else {
            assertThat(driven.await(60, TimeUnit.SECONDS)).isTrue();
            handle = reducer.allreduce(sum("late", 1));
          }
          assertThat(ReducerTest.floats(handle.await(LIMIT))).containsExactly(2);
        });
  }

  @Test
  void awaitInACallbackOfTheDrivingThreadIsRefused() {
    with(
        "inproc",
        2,
        Fusion.AUTO,
        (weft, reducer) -> {
          AtomicReference<Throwable> thrown = new AtomicReference<>();
          if (weft.rank() == 0) {
            Handle<TensorView> later = reducer.allreduce(sum("later", 1));
            Handle<TensorView> first =
                reducer.drive(
                    () -> {
                      Handle<TensorView> own = reducer.allreduce(sum("first", 1));
                      own.whenDone((result, cause) -> await(later, thrown));
                      return own;
                    },
                    LIMIT);
            assertThat(ReducerTest.floats(first.await(LIMIT))).containsExactly(2);
            assertThat(ReducerTest.floats(later.await(LIMIT))).containsExactly(2);
            assertThat(thrown.get())
                .hasMessageContaining("in a callback, on the thread that completes it");
          } else {
            assertThat(reducer.allreduce(sum("first", 1)).await(LIMIT)).isNotNull();
            assertThat(reducer.allreduce(sum("later", 1)).await(LIMIT)).isNotNull();
          }
        });
  }

  /// Records the refusal if the handle is not done yet.
  private static void await(Handle<TensorView> handle, AtomicReference<Throwable> thrown) {
    try {
      var unused = handle.await(Duration.ofSeconds(10));
    } catch (IllegalStateException refused) {
      thrown.set(refused);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Test
  void aMismatchFailsOnlyItsTensorAndTheNextIsDriven() {
    with(
        "tcp",
        2,
        Fusion.AUTO,
        (weft, reducer) -> {
          float[] mine = weft.rank() == 0 ? new float[] {1} : new float[] {1, 2};
          Handle<TensorView> differs =
              reducer.drive(() -> reducer.allreduce(sum("differs", mine)), LIMIT);
          assertThatThrownBy(() -> differs.await(LIMIT)).isInstanceOf(CommException.Mismatch.class);
          Handle<TensorView> next = reducer.drive(() -> reducer.allreduce(sum("next", 1)), LIMIT);
          assertThat(ReducerTest.floats(next.await(LIMIT))).containsExactly(2);
        });
  }

  @Test
  void aRankThatLeavesEndsADrivenOperation() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                try (DataParallel parallel = DataParallel.open(weft)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  reducer.barrier(LIMIT);
                  if (weft.rank() == 0) {
                    Handle<TensorView> alone =
                        reducer.drive(() -> reducer.allreduce(sum("alone", 1)), LIMIT);
                    assertThatThrownBy(() -> alone.await(LIMIT))
                        .isInstanceOf(CommException.Aborted.class)
                        .hasMessageContaining("has closed its DataParallel");
                  }
                }
                return true;
              });
    }
  }

  /// Some threads drive, other threads submit and wait, with pauses and in any order.
  @Test
  void driversAndWaitersShareOneReducer() {
    Property.check(
        3,
        draw -> {
          long seed = draw.seed();
          with("shm", 2, Fusion.AUTO, (weft, reducer) -> work(reducer, seed + weft.rank()));
        });
  }

  private static void work(Reducer reducer, long seed) throws Exception {
    AtomicInteger right = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int thread = t;
      Random random = new Random(seed + t);
      threads.add(
          Thread.ofPlatform().start(() -> right.addAndGet(rounds(reducer, thread, random))));
    }
    for (Thread each : threads) {
      each.join();
    }
    assertThat(right.get()).isEqualTo(4 * 50);
  }

  private static int rounds(Reducer reducer, int thread, Random random) {
    int right = 0;
    try {
      for (int i = 0; i < 50; i++) {
        ReductionRequest request = sum("t" + thread + "/" + i, thread, i);
        Duration limit = Duration.ofMillis(random.nextInt(20));
        Handle<TensorView> handle =
            random.nextBoolean()
                ? reducer.drive(() -> reducer.allreduce(request), limit)
                : reducer.allreduce(request);
        if (random.nextInt(4) == 0) {
          Thread.onSpinWait();
        }
        float[] sums = ReducerTest.floats(handle.await(LIMIT));
        right += sums[0] == 2 * thread && sums[1] == 2 * i ? 1 : 0;
      }
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
    return right;
  }
}
