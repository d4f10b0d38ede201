// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import java.io.Serial;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A network of dense layers with ReLU, trained by Adam. With classes the loss is the cross entropy
/// of the softmax, without classes the square of the error. Initial weights depend only on the seed
/// [He et al. 2015].
public final class DenseNetwork implements NetworkFactory {

  @Serial private static final long serialVersionUID = 1L;

  private final float rate;
  private final int[] hidden;

  /// Creates a factory. Throws `IllegalArgumentException` if a number is not positive.
  ///
  /// @param rate Adam's learning rate
  /// @param hidden the units of the hidden layers, from the input to the output
  public DenseNetwork(float rate, int... hidden) {
    if (!(rate > 0) || Float.isInfinite(rate) || Arrays.stream(hidden).anyMatch(n -> n < 1)) {
      throw new IllegalArgumentException(
          "a dense network needs a positive rate and layers of at least 1 unit, got "
              + rate
              + " and "
              + Arrays.toString(hidden));
    }
    this.rate = rate;
    this.hidden = hidden.clone();
  }

  /// Creates a factory from `settings()` of another one.
  public DenseNetwork(String settings) {
    this(rateOf(settings), hiddenOf(settings));
  }

  private static float rateOf(String settings) {
    return Float.parseFloat(settings.split(",", -1)[0]);
  }

  private static int[] hiddenOf(String settings) {
    return Arrays.stream(settings.split(",", -1)).skip(1).mapToInt(Integer::parseInt).toArray();
  }

  @Override
  public String settings() {
    return rate
        + Arrays.stream(hidden).mapToObj(units -> "," + units).collect(Collectors.joining());
  }

  @Override
  public Network build(Graph graph, NetworkInput input) {
    Ops tf = Ops.create(graph);
    Operand<TFloat32> x = input.features();
    int width = input.width();
    for (int layer = 0; layer < hidden.length; layer++) {
      x = tf.nn.relu(dense(tf, x, width, hidden[layer], new long[] {input.seed(), layer}));
      width = hidden[layer];
    }
    int outputs = Math.max(1, input.classes());
    var output = dense(tf, x, width, outputs, new long[] {input.seed(), hidden.length});
    return new Network(losses(tf, output, input), output, new Adam(graph, rate));
  }

  private static Operand<TFloat32> losses(Ops tf, Operand<TFloat32> output, NetworkInput input) {
    if (input.classes() == 0) {
      var guess = tf.reshape(output, tf.constant(new int[] {-1}));
      return tf.math.square(tf.math.sub(guess, input.labels()));
    }
    var labels = tf.dtypes.cast(input.labels(), TInt32.class);
    var hot = tf.oneHot(labels, tf.constant(input.classes()), tf.constant(1f), tf.constant(0f));
    return tf.nn.softmaxCrossEntropyWithLogits(output, hot).loss();
  }

  private static Operand<TFloat32> dense(
      Ops tf, Operand<TFloat32> x, int inputs, int outputs, long[] seed) {
    var weights = tf.variable(Shape.of(inputs, outputs), TFloat32.class);
    var bias = tf.variable(Shape.of(outputs), TFloat32.class);
    Ops init = tf.withInitScope();
    var normal =
        init.random.statelessTruncatedNormal(
            init.constant(new int[] {inputs, outputs}), init.constant(seed));
    float deviation = (float) Math.sqrt(2.0 / inputs);
    init.assign(weights, init.math.mul(normal, init.constant(deviation)));
    init.assign(bias, init.constant(new float[outputs]));
    return tf.nn.biasAdd(tf.linalg.matMul(x, weights), bias);
  }

  @Override
  public String toString() {
    return "DenseNetwork[" + settings() + "]";
  }
}
