// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.comm.Handle;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.Reducer;
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
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks compression over the layer with fusion, join, factors and sums.
@Timeout(60)
class FusedCompressionTest {

  private static final Duration LIMIT = Duration.ofSeconds(50);
  private static final int RANKS = 3;
  private static final int TENSORS = 5;

  /// The count of steps for which each rank has data.
  private static final int[] STEPS = {4, 2, 3};

  @FunctionalInterface
  private interface Body<T> {
    T run(int rank, Reducer below) throws InterruptedException;
  }

  private static <T> List<T> on(int ranks, Fusion fusion, Body<T> body) {
    try (LocalJob job = LocalJob.over("inproc", ranks)) {
      return job.run(
          weft -> {
            var options = DataParallelOptions.of(weft.config()).with(fusion);
            try (DataParallel parallel = DataParallel.open(weft, options)) {
              return body.run(weft.rank(), parallel.reducer(weft.communicator()));
            }
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

  /// Returns small whole numbers, which every compression except the sparse one carries exactly.
  private static float[] gradient(int rank, int step, int tensor) {
    float[] values = new float[1025 + tensor];
    for (int i = 0; i < values.length; i++) {
      values[i] = i == 0 ? 127 : (i + rank + step) % 7 - 3;
    }
    return values;
  }

  /// Returns the sum in plain arithmetic, where ranks without data count as zeros.
  private static float[] sum(int step, int tensor) {
    float[] sum = new float[1025 + tensor];
    for (int rank = 0; rank < RANKS; rank++) {
      if (step < STEPS[rank]) {
        float[] own = gradient(rank, step, tensor);
        for (int i = 0; i < sum.length; i++) {
          sum[i] += own[i];
        }
      }
    }
    return sum;
  }

  private static List<float[]> trained(int rank, Reducer below, TensorReducer reducer)
      throws InterruptedException {
    var sums = new ArrayList<float[]>();
    for (int step = 0; step < STEPS[rank]; step++) {
      var handles = new ArrayList<Handle<TensorView>>();
      for (int i = 0; i < TENSORS; i++) {
        int tensor = rank == 1 ? TENSORS - 1 - i : i;
        var request =
            ReductionRequest.of("g" + tensor, floats(gradient(rank, step, tensor)), ReduceOp.SUM);
        handles.add(reducer.allreduce(request));
      }
      for (int tensor = 0; tensor < TENSORS; tensor++) {
        int place = rank == 1 ? TENSORS - 1 - tensor : tensor;
        sums.add(floats(handles.get(place).await(LIMIT)));
      }
    }
    assertThat(below.join().await(LIMIT)).isZero();
    return sums;
  }

  @ParameterizedTest
  @CsvSource({"fp16, 0", "bf16, 2", "int8, 4", "topk:1.0, 1e-4"})
  void sumsOfRanksThatJoinInTurnEqualThoseOfPlainArithmetic(String how, float error) {
    List<List<float[]>> all =
        on(
            RANKS,
            Fusion.ON,
            (rank, below) -> trained(rank, below, Compression.parse(how).wrap(below)));
    for (int step = 0; step < STEPS[0]; step++) {
      for (int tensor = 0; tensor < TENSORS; tensor++) {
        float[] expected = sum(step, tensor);
        float[] first = all.getFirst().get(step * TENSORS + tensor);
        for (int i = 0; i < expected.length; i++) {
          assertThat(first[i])
              .as("step %d, tensor %d, element %d", step, tensor, i)
              .isCloseTo(expected[i], within(error));
        }
        for (int rank = 1; rank < RANKS; rank++) {
          if (step < STEPS[rank]) {
            assertThat(all.get(rank).get(step * TENSORS + tensor))
                .as("bits of rank %d in step %d", rank, step)
                .isEqualTo(first);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "fp16", "bf16"})
  void bitsAreTheSameWithAndWithoutFusion(String how) {
    List<List<float[]>> fused = random(Fusion.ON, how);
    List<List<float[]>> single = random(Fusion.OFF, how);
    for (int rank = 0; rank < RANKS; rank++) {
      for (int i = 0; i < fused.getFirst().size(); i++) {
        assertThat(fused.get(rank).get(i)).isEqualTo(fused.getFirst().get(i));
        assertThat(single.get(rank).get(i)).isEqualTo(fused.getFirst().get(i));
      }
    }
  }

  private static List<List<float[]>> random(Fusion fusion, String how) {
    return on(
        RANKS,
        fusion,
        (rank, below) -> {
          TensorReducer reducer = Compression.parse(how).wrap(below);
          Random random = new Random(77 + rank);
          List<ReductionRequest> group = new ArrayList<>();
          for (int tensor = 0; tensor < TENSORS; tensor++) {
            float[] values = new float[100 + tensor];
            for (int i = 0; i < values.length; i++) {
              values[i] = (float) random.nextGaussian();
            }
            group.add(
                ReductionRequest.of("g" + tensor, floats(values), ReduceOp.SUM).scaled(1 / 3.0, 2));
          }
          List<float[]> means = new ArrayList<>();
          for (TensorView mean : reducer.reduceAll(group).await(LIMIT)) {
            means.add(floats(mean));
          }
          below.barrier(LIMIT);
          return means;
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "fp16", "bf16", "int8", "int4", "topk:1.0"})
  void aSumIsTheAverageTimesTheRanks(String how) {
    on(
        2,
        Fusion.ON,
        (rank, below) -> {
          TensorReducer first = Compression.parse(how).wrap(below);
          TensorReducer second = Compression.parse(how).wrap(below);
          TensorView sum =
              first
                  .allreduce(ReductionRequest.of("s", floats(3 + rank, -7, 0.5f), ReduceOp.SUM))
                  .await(LIMIT);
          TensorView average = second.reduce("a", floats(3 + rank, -7, 0.5f)).await(LIMIT);
          for (int i = 0; i < 3; i++) {
            assertThat(floats(sum)[i]).isEqualTo(2 * floats(average)[i]);
          }
          return true;
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "int8", "topk:0.5"})
  void anEmptyTensorIsReduced(String how) {
    on(
        2,
        Fusion.ON,
        (rank, below) -> {
          TensorReducer reducer = Compression.parse(how).wrap(below);
          assertThat(floats(reducer.reduce("g", floats()).await(LIMIT))).isEmpty();
          return true;
        });
  }

  @Test
  void sixteenBitsHalveTheBytesOfABuffer() {
    long plain = sent("none");
    assertThat((double) plain / sent("fp16")).isBetween(1.8, 2.1);
  }

  private static long sent(String how) {
    try (LocalJob job = LocalJob.over("tcp", 2)) {
      long before = job.ranks().getFirst().bytesSent();
      var unused =
          job.run(
              weft -> {
                var options = DataParallelOptions.of(weft.config()).with(Fusion.ON);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  TensorReducer reducer =
                      Compression.parse(how).wrap(parallel.reducer(weft.communicator()));
                  var handles = new ArrayList<Handle<TensorView>>();
                  for (int i = 0; i < 20; i++) {
                    handles.add(reducer.reduce("g" + i, floats(new float[10_000])));
                  }
                  for (Handle<TensorView> handle : handles) {
                    var mean = handle.await(LIMIT);
                    assertThat(mean.bytes()).isEqualTo(40_000);
                  }
                }
                return true;
              });
      return job.ranks().getFirst().bytesSent() - before;
    }
  }
}
