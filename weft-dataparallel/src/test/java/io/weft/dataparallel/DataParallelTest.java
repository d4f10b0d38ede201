// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DataParallelTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static DataParallelOptions on(Weft weft) {
    return DataParallelOptions.of(weft.config()).with(Fusion.ON);
  }

  @Test
  void processSetsHaveTheirOwnReducers() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      var unused =
          job.run(
              weft -> {
                try (DataParallel parallel = DataParallel.open(weft, on(weft))) {
                  Reducer all = parallel.reducer(weft.communicator());
                  if (weft.rank() > 0) {
                    var set = new ProcessSet(List.of(1, 2));
                    Reducer few = parallel.reducer(weft.communicator(set));
                    TensorView mean = few.reduce("g", ReducerTest.floats(weft.rank())).await(LIMIT);
                    assertThat(ReducerTest.floats(mean)).containsExactly(1.5f);
                  }
                  TensorView mean = all.reduce("g", ReducerTest.floats(weft.rank())).await(LIMIT);
                  assertThat(ReducerTest.floats(mean)).containsExactly(1);
                  all.barrier(LIMIT);
                }
                return true;
              });
    }
  }

  @Test
  void differentThresholdsAreNamedOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                var options = on(weft).withThreshold(1 << 20 + weft.rank());
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  assertThatThrownBy(() -> reducer.reduce("g", ReducerTest.floats(1)).await(LIMIT))
                      .isInstanceOf(CommException.Mismatch.class)
                      .hasMessageContaining("fusion threshold")
                      .hasMessageContaining("1048576 on rank 0")
                      .hasMessageContaining("2097152 on rank 1");
                }
                return true;
              });
    }
  }

  @Test
  void aLostRankFailsWaitingHandlesAndCloseDoesNotHang() {
    CountDownLatch submitted = new CountDownLatch(1);
    try (LocalJob job = LocalJob.over("tcp", 2)) {
      var unused =
          job.run(
              weft -> {
                DataParallel parallel = DataParallel.open(weft, on(weft));
                Reducer reducer = parallel.reducer(weft.communicator());
                var first = reducer.reduce("first", ReducerTest.floats(1)).await(LIMIT);
                assertThat(ReducerTest.floats(first)).containsExactly(1);
                if (weft.rank() == 1) {
                  assertThat(submitted.await(60, TimeUnit.SECONDS)).isTrue();
                  weft.close(); // without closing the layer before
                  parallel.close();
                  return true;
                }
                Handle<TensorView> waiting = reducer.reduce("second", ReducerTest.floats(1));
                submitted.countDown();
                assertThatThrownBy(() -> waiting.await(LIMIT)).isInstanceOf(CommException.class);
                assertThatThrownBy(
                        () -> reducer.reduce("third", ReducerTest.floats(1)).await(LIMIT))
                    .isInstanceOf(CommException.class);
                parallel.close();
                return true;
              });
    }
  }

  @Test
  void aClosedLayerReturnsNoReducer() {
    try (LocalJob job = LocalJob.over("inproc", 1)) {
      var unused =
          job.run(
              weft -> {
                DataParallel parallel = DataParallel.open(weft, on(weft));
                Reducer reducer = parallel.reducer(weft.communicator());
                assertThat(reducer.join().await(LIMIT)).isZero();
                parallel.close();
                assertThatThrownBy(() -> parallel.reducer(weft.communicator()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is closed");
                return true;
              });
    }
  }
}
