// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProcessSetsWhileRunningTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @ParameterizedTest
  @EnumSource(
      value = Fusion.class,
      names = {"ON", "OFF"})
  void setsAreCreatedAndClosedWhileAllRanksReduce(Fusion fusion) {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      var unused =
          job.run(
              weft -> {
                var options = DataParallelOptions.of(weft.config()).with(fusion);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  for (int turn = 0; turn < 6; turn++) {
                    reduceBoth(weft, parallel, turn);
                  }
                }
                return true;
              });
    }
  }

  /// Reduces over all ranks and over a new set, which excludes another rank in each call.
  private static void reduceBoth(Weft weft, DataParallel parallel, int turn)
      throws InterruptedException {
    int out = turn % 3;
    Reducer all = parallel.reducer(weft.communicator());
    Handle<TensorView> sum =
        all.allreduce(ReductionRequest.of("all", ReducerTest.floats(1), ReduceOp.SUM));
    if (weft.rank() != out) {
      var set = new ProcessSet(List.of(0, 1, 2).stream().filter(rank -> rank != out).toList());
      try (Communicator two = weft.communicator(set)) {
        Reducer reducer = parallel.reducer(two);
        assertThat(parallel.reducer(two)).isSameAs(reducer);
        assertThat(reducer.size()).isEqualTo(2);
        float mine = 1 + weft.rank();
        var own = ReductionRequest.of("set", ReducerTest.floats(mine), ReduceOp.SUM);
        assertThat(ReducerTest.floats(reducer.allreduce(own).await(LIMIT)))
            .containsExactly(6f - (1 + out));
        parallel.close(two);
        if (all instanceof NegotiatedReducer) {
          assertThatThrownBy(() -> reducer.allreduce(own).await(LIMIT))
              .isInstanceOf(CommException.Aborted.class)
              .hasMessageContaining("closed its DataParallel");
        }
      }
    }
    assertThat(ReducerTest.floats(sum.await(LIMIT))).containsExactly(3);
  }
}
