// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.adasum;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.Shape;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AdasumTest {

  private static List<float[]> combined(float[]... gradients) {
    try (LocalJob job = LocalJob.over("inproc", gradients.length)) {
      return job.run(
          weft -> {
            float[] own = gradients[weft.rank()];
            try (var gradient = OwnedTensor.allocate(DType.FLOAT32, Shape.of(own.length));
                var sum = OwnedTensor.allocate(DType.FLOAT32, Shape.of(own.length))) {
              for (int i = 0; i < own.length; i++) {
                gradient.view().data().setAtIndex(JAVA_FLOAT, i, own[i]);
              }
              var reducer = Adasum.REDUCERS.reducer(weft.communicator());
              var unused = reducer.reduce("g", gradient.view(), sum.view()).await();
              assertThat(gradient.view().data().toArray(JAVA_FLOAT)).isEqualTo(own);
              return sum.view().data().toArray(JAVA_FLOAT);
            }
          });
    }
  }

  @Test
  void orthogonalGradientsAreAdded() {
    for (float[] sum : combined(new float[] {3, 0, 1, 0}, new float[] {0, 2, 0, -5})) {
      assertThat(sum).containsExactly(3, 2, 1, -5);
    }
  }

  @Test
  void parallelGradientsAreAveraged() {
    float[] same = {4, -2, 0.5f};
    for (float[] sum : combined(same, same, same, same)) {
      assertThat(sum).containsExactly(same);
    }
    for (float[] sum : combined(new float[] {1, 2}, new float[] {3, 6})) {
      assertThat(sum).containsExactly(new float[] {2, 4}, within(1e-6f));
    }
  }

  @Test
  void zerosLeaveTheOtherGradientUnchanged() {
    for (float[] sum : combined(new float[] {0, 0}, new float[] {3, 6})) {
      assertThat(sum).containsExactly(3, 6);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8})
  void theTreeEqualsTheReferenceWithTheSameBitsOnAllRanks(int ranks) {
    int elements = 1000;
    var random = new Random(7);
    float[][] gradients = new float[ranks][elements];
    double[][] level = new double[ranks][elements];
    for (int rank = 0; rank < ranks; rank++) {
      for (int i = 0; i < elements; i++) {
        gradients[rank][i] = (float) (random.nextGaussian() + 0.5);
        level[rank][i] = gradients[rank][i];
      }
    }
    for (int left = ranks; left > 1; left /= 2) {
      for (int pair = 0; pair < left / 2; pair++) {
        level[pair] = reference(level[2 * pair], level[2 * pair + 1]);
      }
    }
    List<float[]> sums = combined(gradients);
    for (float[] sum : sums) {
      assertThat(sum).isEqualTo(sums.getFirst());
      for (int i = 0; i < elements; i++) {
        assertThat((double) sum[i]).isCloseTo(level[0][i], within(1e-4));
      }
    }
  }

  private static double[] reference(double[] a, double[] b) {
    double product = 0;
    double squareOfA = 0;
    double squareOfB = 0;
    for (int i = 0; i < a.length; i++) {
      product += a[i] * b[i];
      squareOfA += a[i] * a[i];
      squareOfB += b[i] * b[i];
    }
    double[] sum = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      sum[i] = a[i] * (1 - product / (2 * squareOfA)) + b[i] * (1 - product / (2 * squareOfB));
    }
    return sum;
  }

  @Test
  void threeRanksAreRefused() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      job.run(
          weft -> {
            assertThatThrownBy(() -> new Adasum(weft.communicator()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("this communicator has 3");
            return true;
          });
    }
  }

  @Test
  void differentShapesAreNamedOnBothRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            try (var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3 + weft.rank()))) {
              var reducer = new Adasum(weft.communicator());
              assertThatThrownBy(() -> reducer.reduce("g", tensor.view()).await())
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("rank 0")
                  .hasMessageContaining("rank 1")
                  .hasMessageContaining("give all ranks the same shape");
            }
            return true;
          });
    }
  }
}
