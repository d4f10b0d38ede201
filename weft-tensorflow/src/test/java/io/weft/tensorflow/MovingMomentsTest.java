// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.Weft;
import io.weft.tensorflow.SyncBatchNorm.Normalized;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;

class MovingMomentsTest {

  private static final int CHANNELS = 2;
  private static final int ROWS = 6;
  private static final int STEPS = 3;
  private static final double MOMENTUM = 0.9;

  /// The row ranges of ranks 0, 1 and 2 in the joint batch.
  private static final int[][] PARTS = {{0, 2}, {2, 5}, {5, 6}};

  private static float[][] batch(int step) {
    var random = new Random(100 + step);
    float[][] rows = new float[ROWS][CHANNELS];
    for (float[] row : rows) {
      for (int channel = 0; channel < CHANNELS; channel++) {
        row[channel] = (float) random.nextDouble(-3, 5 + step);
      }
    }
    return rows;
  }

  /// Returns the mean and variance of each channel after all steps.
  private static List<Float> moving(Weft weft) {
    int[] part = weft.size() == 1 ? new int[] {0, ROWS} : PARTS[weft.rank()];
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var ops = new WeftOps(graph, weft.communicator());
      Placeholder<TFloat32> x =
          tf.placeholder(
              TFloat32.class, Placeholder.shape(org.tensorflow.ndarray.Shape.of(-1, CHANNELS)));
      var norm = new SyncBatchNorm(graph, ops, "norm", 1e-3);
      var moving = new MovingMoments<>(graph, "norm", CHANNELS, MOMENTUM, TFloat32.class);
      Normalized<TFloat32> normalized =
          norm.apply(x, tf.constant(new float[] {1, 1}), tf.constant(new float[] {0, 0}));
      Op update = moving.update(normalized);
      try (var session = new Session(graph)) {
        session.initialize();
        for (int step = 0; step < STEPS; step++) {
          float[][] own = java.util.Arrays.copyOfRange(batch(step), part[0], part[1]);
          try (TFloat32 fed = TFloat32.tensorOf(StdArrays.ndCopyOf(own));
              Result ran = session.runner().feed(x, fed).addTarget(update).run()) {
            assertThat(ran.size()).isZero();
          }
        }
        List<Float> values = new ArrayList<>();
        try (Result result = session.runner().fetch(moving.mean()).fetch(moving.variance()).run()) {
          for (int i = 0; i < 2; i++) {
            ((TFloat32) result.get(i)).scalars().forEach(value -> values.add(value.getFloat()));
          }
        }
        return values;
      }
    }
  }

  @Test
  void ranksHaveTheAveragesOfOneProcessOnTheJointBatch() {
    double[] mean = new double[CHANNELS];
    double[] variance = {1, 1};
    for (int step = 0; step < STEPS; step++) {
      for (int channel = 0; channel < CHANNELS; channel++) {
        double sum = 0;
        double squares = 0;
        for (float[] row : batch(step)) {
          sum += row[channel];
          squares += (double) row[channel] * row[channel];
        }
        double of = sum / ROWS;
        mean[channel] = MOMENTUM * mean[channel] + (1 - MOMENTUM) * of;
        variance[channel] =
            MOMENTUM * variance[channel] + (1 - MOMENTUM) * (squares / ROWS - of * of);
      }
    }
    List<Float> alone = RankGraphs.on(1, MovingMomentsTest::moving).getFirst();
    List<List<Float>> ranks = RankGraphs.on(3, MovingMomentsTest::moving);
    for (List<Float> rank : ranks) {
      assertThat(rank).as("bits of each rank").isEqualTo(ranks.getFirst());
    }
    for (int i = 0; i < 2 * CHANNELS; i++) {
      double expected = i < CHANNELS ? mean[i] : variance[i - CHANNELS];
      assertThat((double) alone.get(i)).isCloseTo(expected, within(1e-4));
      assertThat((double) ranks.getFirst().get(i)).isCloseTo(alone.get(i), within(1e-5));
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.1, 1, Double.NaN, Double.POSITIVE_INFINITY, 1e-40})
  void invalidMomentaAreRefused(double momentum) {
    try (Graph graph = new Graph()) {
      assertThatThrownBy(() -> new MovingMoments<>(graph, "norm", 2, momentum, TFloat32.class))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'norm'")
          .hasMessageContaining("got " + momentum);
      assertThatThrownBy(() -> new MovingMoments<>(graph, "norm", 0, 0.5, TFloat32.class))
          .hasMessageContaining("at least 1 channel, got 0");
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1e-3, Double.NaN, Double.POSITIVE_INFINITY, 1e-300})
  void invalidEpsilonsAreRefused(double epsilon) {
    String refused =
        RankGraphs.on(
                1,
                weft -> {
                  try (Graph graph = new Graph()) {
                    var ops = new WeftOps(graph, weft.communicator());
                    assertThatThrownBy(() -> new SyncBatchNorm(graph, ops, "norm", epsilon))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("'norm'")
                        .hasMessageContaining("got " + epsilon);
                    return "refused";
                  }
                })
            .getFirst();
    assertThat(refused).isEqualTo("refused");
  }
}
