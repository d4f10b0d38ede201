// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.data.Examples;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.op.Op;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;

class AlexnetTest {

  private static final int BATCH = 4;

  @Test
  void aSmallNetworkOverfitsRepeatedExamples() {
    var small = new Alexnet(67, 16, 100);
    assertThat(small.features()).isEqualTo(3 * 67 * 67);
    Examples examples = new RandomPixels(small.features(), 5).train();
    try (var graph = new Graph();
        TFloat32 pixels = pixels(examples)) {
      var layers = new Layers(graph, 3);
      var tf = layers.tf();
      var x = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(BATCH, small.features())));
      Operand<TFloat32> logits = small.logits(layers, x);
      int[] labels = new int[BATCH];
      for (int i = 0; i < BATCH; i++) {
        labels[i] = examples.labels()[i];
      }
      var wanted =
          tf.oneHot(tf.constant(labels), tf.constant(100), tf.constant(1f), tf.constant(0f));
      var losses = tf.nn.softmaxCrossEntropyWithLogits(logits, wanted).loss();
      Operand<TFloat32> loss = tf.math.mean(losses, tf.constant(0));
      Op train = new GradientDescent(graph, 0.02f).minimize(loss);
      try (var session = new Session(graph)) {
        session.initialize();
        float first = step(session, x, pixels, train, loss);
        float last = first;
        for (int i = 0; i < 30; i++) {
          last = step(session, x, pixels, train, loss);
        }
        assertThat(first).isBetween(3f, 8f);
        assertThat(last).isLessThan(first / 2);
      }
    }
  }

  private static float step(
      Session session, Operand<TFloat32> x, TFloat32 pixels, Op train, Operand<TFloat32> loss) {
    try (Result result =
        session.runner().feed(x.asOutput(), pixels).addTarget(train).fetch(loss).run()) {
      return ((TFloat32) result.get(0)).getFloat();
    }
  }

  private static TFloat32 pixels(Examples examples) {
    float[][] rows = new float[BATCH][examples.features()];
    for (int i = 0; i < BATCH; i++) {
      for (int f = 0; f < examples.features(); f++) {
        rows[i][f] = (examples.values()[i * examples.features() + f] & 0xff) * examples.scale();
      }
    }
    return TFloat32.tensorOf(StdArrays.ndCopyOf(rows));
  }
}
