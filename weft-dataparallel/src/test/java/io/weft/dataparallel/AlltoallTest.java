// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.collective.Communicator.Received;
import io.weft.comm.CommException;
import io.weft.dataparallel.CollectiveRequest.Alltoall;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AlltoallTest {

  private static final Duration LIMIT = Duration.ofSeconds(50);

  private static float[] floats(Received received) {
    try (var lease = received.tensor()) {
      return lease.view().data().toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Fusion.class,
      names = {"ON", "OFF"})
  void eachRankReceivesItsRowsFromAllRanks(Fusion fusion) {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      var unused =
          job.run(
              weft -> {
                var options = DataParallelOptions.of(weft.config()).with(fusion);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  float own = 10 * weft.rank();
                  // Rank r sends no row to rank 0, one to 1, two to 2.
                  TensorView rows = ReducerTest.floats(own, own + 1, own + 2);
                  Received got =
                      reducer.submit(Alltoall.of("a", rows, List.of(0L, 1L, 2L))).await(LIMIT);
                  assertThat(got.splits()).containsOnly((long) weft.rank());
                  float[] expected =
                      switch (weft.rank()) {
                        case 0 -> new float[0];
                        case 1 -> new float[] {0, 10, 20};
                        default -> new float[] {1, 2, 11, 12, 21, 22};
                      };
                  assertThat(floats(got)).isEqualTo(expected);
                  reducer.barrier(LIMIT);
                }
                return true;
              });
    }
  }

  @Test
  void aJoinedRankSendsNothingAndRowsForItAreDropped() {
    ReducerTest.negotiated(
        2,
        (weft, reducer) -> {
          if (weft.rank() == 1) {
            assertThat(reducer.join().await(LIMIT)).isZero();
            return true;
          }
          var request = Alltoall.of("a", ReducerTest.floats(1, 2, 3), List.of(1L, 2L));
          for (int step = 0; step < 2; step++) {
            Received got = reducer.submit(request).await(LIMIT);
            assertThat(got.splits()).containsExactly(1L, 0L);
            assertThat(floats(got)).containsExactly(1);
          }
          assertThat(reducer.join().await(LIMIT)).isZero();
          return true;
        });
  }

  @Test
  void disagreeingRanksAndWrongSplitsFailAndTheReducerContinues() {
    ReducerTest.negotiated(
        2,
        (weft, reducer) -> {
          TensorView rows = ReducerTest.floats(1, 2);
          assertThatThrownBy(() -> Alltoall.of("a", rows, List.of(1L, 2L)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("splits of [1, 2] rows; their sum must be the 2 rows");
          assertThatThrownBy(() -> Alltoall.of("a", rows, List.of(-1L, 3L)))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> reducer.submit(Alltoall.of("a", rows, List.of(2L))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("splits for 1 ranks, there are 2");
          TensorView mine =
              weft.rank() == 0
                  ? rows
                  : new TensorView(DType.INT32, Shape.of(2), Arena.ofAuto().allocate(8, 8));
          assertThatThrownBy(
                  () -> reducer.submit(Alltoall.of("a", mine, List.of(1L, 1L))).await(LIMIT))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("alltoall of any number of rows of FLOAT32")
              .hasMessageContaining("INT32");
          Received got = reducer.submit(Alltoall.of("a", rows, List.of(1L, 1L))).await(LIMIT);
          assertThat(floats(got)).containsOnly(weft.rank() + 1);
          return true;
        });
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, Double.NaN, Double.NEGATIVE_INFINITY, 1e-300, 1e-40, 1e39})
  void factorsThatMakeNumbersZeroOrInfiniteAreRefusedAtTheCall(double factor) {
    var request = ReductionRequest.of("g", ReducerTest.floats(1), ReduceOp.SUM);
    assertThatThrownBy(() -> request.scaled(factor, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'g': a factor of " + factor);
    assertThatThrownBy(() -> request.scaled(1, factor))
        .isInstanceOf(IllegalArgumentException.class);
    var scatter =
        CollectiveRequest.ReduceScatter.of(
            "s", ReducerTest.floats(1), ReducerTest.floats(1), ReduceOp.SUM);
    assertThatThrownBy(() -> scatter.scaled(factor, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'s': a factor of " + factor);
  }
}
