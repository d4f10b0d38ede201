// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.comm.CommException;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.ReductionRequest;
import io.weft.dataparallel.TensorReducer;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks that a value that a compression cannot carry fails only its exchange, on all ranks.
@Timeout(60)
class NotCarriedTest {

  private static final Duration LIMIT = Duration.ofSeconds(50);

  @FunctionalInterface
  private interface Body {
    void run(int rank, TensorReducer reducer) throws InterruptedException;
  }

  private static void on(int ranks, Fusion fusion, String how, Body body) {
    try (LocalJob job = LocalJob.over("inproc", ranks)) {
      var unused =
          job.run(
              weft -> {
                var options = DataParallelOptions.of(weft.config()).with(fusion);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  var below = parallel.reducer(weft.communicator());
                  body.run(weft.rank(), Compression.parse(how).wrap(below));
                  below.barrier(LIMIT);
                }
                return true;
              });
    }
  }

  private static TensorView floats(float... values) {
    return new TensorView(
        DType.FLOAT32, Shape.of(values.length), Arena.ofAuto().allocateFrom(JAVA_FLOAT, values));
  }

  private static float[] floats(TensorView tensor) {
    return tensor.data().toArray(JAVA_FLOAT);
  }

  private static float[] ones(int count, int at, float value) {
    float[] values = new float[count];
    Arrays.fill(values, 1);
    values[at] = value;
    return values;
  }

  @ParameterizedTest
  @CsvSource({
    "OFF, fp16, NaN, ''",
    "OFF, fp16, 70000, 'infinite as FLOAT16'",
    "OFF, fp16, -Infinity, ''",
    "OFF, bf16, NaN, ''",
    "OFF, bf16, 3.4E38, 'infinite as BFLOAT16'",
    "ON, fp16, NaN, ''",
    "ON, fp16, 70000, 'infinite as FLOAT16'",
    "ON, bf16, Infinity, ''",
    "ON, int8, NaN, ''",
    "ON, topk:0.5, -Infinity, ''"
  })
  void theValueIsNamedOnAllRanksAndNothingIsWritten(
      Fusion fusion, String how, float bad, String why) {
    on(
        3,
        fusion,
        how,
        (rank, reducer) -> {
          float[] own = ones(3000, 2222, rank == 1 ? bad : 2);
          TensorView gradient = floats(own);
          TensorView good = floats(rank, 8);
          var beside = reducer.reduce("beside", good);
          var handle = reducer.reduce("g", gradient);
          assertThatThrownBy(() -> handle.await(LIMIT))
              .isInstanceOfSatisfying(
                  CommException.Broken.class, cause -> assertThat(cause.culprit()).isEqualTo(1))
              .hasMessageContaining("rank 1: ")
              .hasMessageContaining("'g' has " + bad + " at index 2222")
              .hasMessageContaining(why)
              .hasMessageContaining("as before; lower the learning rate");
          assertThat(floats(gradient)).isEqualTo(own);
          assertThat(floats(beside.await(LIMIT))[1]).isCloseTo(8, within(0.1f));
          var again = reducer.reduce("g", floats(ones(3000, 7, 8))).await(LIMIT);
          assertThat(floats(again)[7]).isEqualTo(8);
        });
  }

  @ParameterizedTest
  @CsvSource({
    "OFF, fp16, 40000",
    "ON, fp16, 40000",
    "ON, bf16, 3E38",
    "OFF, topk:1.0, 3E38",
    "ON, topk:1.0, 3E38"
  })
  void aSumBeyondTheTypeIsNamedOnAllRanks(Fusion fusion, String how, float each) {
    on(
        2,
        fusion,
        how,
        (rank, reducer) -> {
          TensorView gradient = floats(1, 2, each + rank);
          assertThatThrownBy(() -> reducer.reduce("g", gradient).await(LIMIT))
              .isInstanceOf(CommException.Broken.class)
              .hasMessageContaining("of ")
              .hasMessageContaining("'g' has Infinity at index 2");
          assertThat(floats(gradient)).containsExactly(1, 2, each + rank);
          assertThat(floats(reducer.reduce("g", floats(2, 2, 2)).await(LIMIT)))
              .containsExactly(2, 2, 2);
        });
  }

  @Test
  void anOverflowByTheResidualIsNamedAsTheSumThatWouldBeSent() {
    on(
        2,
        Fusion.OFF,
        "topk:0.5",
        (rank, reducer) -> {
          // The smaller value is omitted and kept as the residual.
          var unused = reducer.reduce("g", floats(3e37f, 2.9e37f)).await(LIMIT);
          assertThatThrownBy(() -> reducer.reduce("g", floats(0, Float.MAX_VALUE)).await(LIMIT))
              .isInstanceOf(CommException.Broken.class)
              .hasMessageContaining("gradient 'g' has Infinity at index 1");
        });
  }

  @ParameterizedTest
  @CsvSource({"fp16, 70000", "bf16, NaN", "int8, NaN", "topk:0.5, Infinity"})
  void theValueIsNamedOnASingleRank(String how, float bad) {
    on(
        1,
        Fusion.AUTO,
        how,
        (rank, reducer) -> {
          TensorView gradient = floats(1, bad);
          assertThatThrownBy(() -> reducer.reduce("g", gradient).await(LIMIT))
              .isInstanceOf(CommException.Broken.class)
              .hasMessageContaining("rank 0: ")
              .hasMessageContaining("'g' has " + bad + " at index 1");
          assertThat(floats(gradient)).containsExactly(1, bad);
          assertThat(floats(reducer.reduce("g", floats(4)).await(LIMIT))).containsExactly(4);
        });
  }

  @ParameterizedTest
  @EnumSource(
      value = Fusion.class,
      names = {"ON", "OFF"})
  void aGroupFailsWithItsTensorAndTheNextOneContinues(Fusion fusion) {
    on(
        2,
        fusion,
        "fp16",
        (rank, reducer) -> {
          List<ReductionRequest> group = new ArrayList<>();
          group.add(ReductionRequest.of("a", floats(1), ReduceOp.SUM));
          group.add(ReductionRequest.of("b", floats(rank == 0 ? 1e6f : 1), ReduceOp.SUM));
          assertThatThrownBy(() -> reducer.reduceAll(group).await(LIMIT))
              .isInstanceOf(CommException.Broken.class)
              .hasMessageContaining("rank 0: tensor 'b' has 1000000.0 at index 0");
          var again =
              reducer
                  .reduceAll(List.of(ReductionRequest.of("b", floats(3), ReduceOp.SUM)))
                  .await(LIMIT);
          assertThat(floats(again.getFirst())).containsExactly(6);
        });
  }

  @Test
  void predivisionKeepsASumInRange() {
    on(
        2,
        Fusion.ON,
        "fp16",
        (rank, reducer) -> {
          var request =
              ReductionRequest.of("g", floats(60000, 1), ReduceOp.SUM).scaled(1 / 4.0, 4.0 / 2);
          assertThat(floats(reducer.allreduce(request).await(LIMIT))).containsExactly(60000, 1);
        });
  }

  @Test
  void onlySumsOfFloatsWithShortNamesAreNarrowed() {
    var max = ReductionRequest.of("g", floats(1), ReduceOp.MAX);
    assertThatThrownBy(() -> max.narrowed(DType.FLOAT16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("only SUM and AVERAGE travel as FLOAT16, not MAX");
    var sum = ReductionRequest.of("n".repeat(510), floats(1), ReduceOp.SUM);
    assertThatThrownBy(() -> sum.narrowed(DType.FLOAT16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 512 characters");
    var wrong = ReductionRequest.of("g", floats(1), ReduceOp.SUM);
    assertThatThrownBy(() -> wrong.narrowed(DType.INT8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("INT8");
  }
}
