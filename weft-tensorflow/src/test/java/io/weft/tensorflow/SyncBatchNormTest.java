// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.tensor.DType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.tensorflow.RankGraphs.Rank;
import io.weft.tensorflow.RankGraphs.Value;
import io.weft.tensorflow.SyncBatchNorm.Normalized;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.types.TFloat32;

class SyncBatchNormTest {

  private static final int CHANNELS = 3;
  private static final int PIXELS = 2;
  private static final int ROW = PIXELS * CHANNELS;
  private static final double EPSILON = 1e-3;

  /// The numbers of rows of ranks 0, 1 and 2.
  private static final int[] ROWS = {2, 3, 1};

  @Test
  void ranksNormalizeAsOneRankDoesWithTheJointBatch() {
    List<Value> joint = RankGraphs.run(1, r -> layer(r, 0, 6)).getFirst();
    List<List<Value>> ranks =
        RankGraphs.run(
            3, r -> layer(r, Arrays.stream(ROWS).limit(r.number()).sum(), ROWS[r.number()]));
    double[] scaleGradient = new double[CHANNELS];
    double[] offsetGradient = new double[CHANNELS];
    int from = 0;
    for (int rank = 0; rank < 3; rank++) {
      List<Value> values = ranks.get(rank);
      int to = from + ROWS[rank] * ROW;
      assertClose(values.get(0).elements(), part(joint.get(0), from, to));
      assertClose(values.get(1).elements(), joint.get(1).elements());
      assertClose(values.get(2).elements(), joint.get(2).elements());
      assertClose(values.get(3).elements(), part(joint.get(3), from, to));
      for (int channel = 0; channel < CHANNELS; channel++) {
        scaleGradient[channel] += values.get(4).elements()[channel];
        offsetGradient[channel] += values.get(5).elements()[channel];
      }
      from = to;
    }
    // The optimizer averages or adds these gradients like all others.
    assertClose(scaleGradient, joint.get(4).elements());
    assertClose(offsetGradient, joint.get(5).elements());
  }

  @Test
  void meanAndVarianceAreThoseOfAllRows() {
    List<List<Value>> ranks = RankGraphs.run(2, r -> layer(r, 3 * r.number(), 3));
    double[] x = data(0, 6);
    for (int channel = 0; channel < CHANNELS; channel++) {
      double sum = 0;
      double squares = 0;
      for (int i = channel; i < x.length; i += CHANNELS) {
        sum += x[i];
        squares += x[i] * x[i];
      }
      double mean = sum / (6 * PIXELS);
      double variance = squares / (6 * PIXELS) - mean * mean;
      for (List<Value> values : ranks) {
        assertThat(values.get(1).elements()[channel]).isCloseTo(mean, within(1e-4));
        assertThat(values.get(2).elements()[channel]).isCloseTo(variance, within(1e-3));
      }
    }
  }

  @Test
  void valuesFarFromZeroKeepTheirPrecision() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Operand<TFloat32> x =
                  r.numbers(FLOAT32, new long[] {2, 1}, 10_000 + r.number(), 10_002 + r.number());
              SyncBatchNorm norm = new SyncBatchNorm(r.graph(), r.weft(), "norm", 0);
              return List.of(
                  norm.apply(x, r.filled(FLOAT32, 1, 1), r.filled(FLOAT32, 0, 1)).variance());
            });
    assertThat(ranks).allSatisfy(v -> assertThat(v.get(0).elements()).containsExactly(1.25));
  }

  @Test
  void tensorWithoutChannelsIsRefused() {
    List<String> messages =
        RankGraphs.failures(
            1,
            r ->
                List.of(
                    new SyncBatchNorm(r.graph(), r.weft(), "norm", 0)
                        .apply(
                            r.<TFloat32>filled(FLOAT32, 1, 4),
                            r.<TFloat32>filled(FLOAT32, 1, 1),
                            r.<TFloat32>filled(FLOAT32, 0, 1))
                        .output()));
    assertThat(messages.getFirst()).contains("'norm'").contains("[4]");
  }

  /// Returns the output, mean, variance, and the gradients of input, scale and offset.
  private static List<Operand<?>> layer(Rank r, int first, int rows) {
    Operand<TFloat32> x =
        r.numbers(FLOAT32, new long[] {rows, PIXELS, CHANNELS}, data(first, rows));
    Operand<TFloat32> scale = r.numbers(FLOAT32, new long[] {CHANNELS}, 0.5, 1, 2);
    Operand<TFloat32> offset = r.numbers(FLOAT32, new long[] {CHANNELS}, 3, 2, 1);
    Normalized<TFloat32> normalized =
        new SyncBatchNorm(r.graph(), r.weft(), "norm", EPSILON).apply(x, scale, offset);
    Operand<TFloat32> loss = r.tf().math.mul(r.tf().math.square(normalized.output()), x);
    Output<?>[] gradients =
        r.graph()
            .addGradients(
                loss.asOutput(),
                new Output<?>[] {x.asOutput(), scale.asOutput(), offset.asOutput()});
    List<Operand<?>> all =
        new ArrayList<>(List.of(normalized.output(), normalized.mean(), normalized.variance()));
    all.addAll(Arrays.asList(gradients));
    return all;
  }

  /// Returns rows of the joint batch.
  private static double[] data(int first, int rows) {
    Random random = new Random(11);
    double[] all = random.doubles(6 * ROW, -3, 5).toArray();
    return Arrays.copyOfRange(all, first * ROW, (first + rows) * ROW);
  }

  private static double[] part(Value of, int from, int to) {
    return Arrays.copyOfRange(of.elements(), from, to);
  }

  private static void assertClose(double[] actual, double[] expected) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      assertThat(actual[i]).as("element %d", i).isCloseTo(expected[i], within(2e-4));
    }
  }
}
