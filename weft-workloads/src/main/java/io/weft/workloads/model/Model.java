// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.workloads.clicks.Ids;
import io.weft.workloads.data.Floats;
import java.util.List;
import java.util.Optional;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TUint8;

/// A network. It owns its graph.
///
/// @param graph with all of the tensors below
/// @param features to feed: bytes of shape batch by features, encoded as in `Examples`
/// @param labels to feed: one for each example of the batch
/// @param lossSum cross entropy summed over the batch; a scalar
/// @param correct the number of correct predictions in the batch; a scalar
/// @param score of shape batch: the score by which a ranked workload ranks examples
/// @param variables weights and biases, in order of creation
/// @param tables the variables that are looked up row by row, and their rows
public record Model(
    Graph graph,
    Placeholder<TUint8> features,
    Placeholder<TInt32> labels,
    Operand<TFloat32> lossSum,
    Operand<TInt32> correct,
    Optional<Operand<TFloat32>> score,
    List<Variable<TFloat32>> variables,
    List<SparseTable> tables)
    implements AutoCloseable {

  /// Builds a workload's network with its standard hidden layers.
  public static Model of(Workload workload, int features, long seed, float scale) {
    return of(workload, Hidden.STANDARD, features, seed, scale);
  }

  /// Builds a workload's network.
  ///
  /// @param features bytes of an example
  /// @param seed of the initial weights
  /// @param scale the factor by which a feature byte is multiplied
  public static Model of(Workload workload, Hidden hidden, int features, long seed, float scale) {
    return of(workload, hidden, features, seed, scale, Readings.VARIABLES);
  }

  /// Builds a workload's network on other tensors than the values of its variables.
  ///
  /// @param readings the tensors
  public static Model of(
      Workload workload, Hidden hidden, int features, long seed, float scale, Readings readings) {
    var graph = new Graph();
    var layers = new Layers(graph, seed, hidden, readings);
    Ops tf = layers.tf();
    var bytes =
        tf.withName("features")
            .placeholder(TUint8.class, Placeholder.shape(Shape.of(Shape.UNKNOWN_SIZE, features)));
    var labels =
        tf.withName("labels")
            .placeholder(TInt32.class, Placeholder.shape(Shape.of(Shape.UNKNOWN_SIZE)));
    Operand<TFloat32> x =
        switch (workload) {
          case ACOUSTIC_DNN, HIGGS_DNN -> numbers(tf, bytes, features / Floats.BYTES);
          case MNIST_DNN, MNIST_CNN, CIFAR10_DNN, CIFAR10_CNN, ADULT_DNN, ALEXNET, WIDE_DEEP ->
              tf.math.mul(tf.dtypes.cast(bytes, TFloat32.class), tf.constant(scale));
          case TINY_GPT -> throw new IllegalArgumentException(workload + " with TensorFlow");
        };
    Operand<TFloat32> logits =
        switch (workload) {
          case MNIST_DNN, CIFAR10_DNN, ADULT_DNN ->
              hidden.size() == Hidden.Size.ENLARGED
                  ? dense(layers, x, features, 2048, 1024, workload.classes())
                  : dense(layers, x, features, 200, 100, workload.classes());
          case ACOUSTIC_DNN ->
              dense(layers, x, features / Floats.BYTES, 200, 100, workload.classes());
          case HIGGS_DNN -> {
            int numbers = features / Floats.BYTES;
            var full = layers.hidden("dense1", x, numbers, 1024);
            yield layers.dense("dense2", full, 1024, workload.classes());
          }
          case MNIST_CNN ->
              twoConvolutions(
                  layers,
                  tf.reshape(x, tf.constant(new int[] {-1, 28, 28, 1})),
                  hidden,
                  workload.classes());
          case CIFAR10_CNN -> twoConvolutions(layers, pictures(tf, x), hidden, workload.classes());
          case ALEXNET -> Alexnet.seeing(features).logits(layers, x);
          case WIDE_DEEP -> new WideDeep(features / Ids.BYTES).logits(layers, bytes);
          case TINY_GPT -> throw new IllegalArgumentException(workload + " with TensorFlow");
        };
    Verdict verdict = Verdict.of(tf, logits, labels, workload.classes());
    return new Model(
        graph,
        bytes,
        labels,
        verdict.lossSum(),
        verdict.correct(),
        workload.isRanked() ? Optional.of(verdict.clicks(tf)) : Optional.empty(),
        layers.variables(),
        layers.tables());
  }

  private static Operand<TFloat32> dense(
      Layers layers, Operand<TFloat32> x, int inputs, int first, int second, int classes) {
    var one = layers.hidden("dense1", x, inputs, first);
    var two = layers.hidden("dense2", one, first, second);
    return layers.dense("dense3", two, second, classes);
  }

  /// Takes the bytes of `Floats` as numbers, without a conversion.
  private static Operand<TFloat32> numbers(Ops tf, Operand<TUint8> bytes, int count) {
    var each = tf.reshape(bytes, tf.constant(new int[] {-1, count, Floats.BYTES}));
    return tf.bitcast(each, TFloat32.class);
  }

  /// Moves the colours of a picture, which are separate planes in the data, to the last dimension.
  private static Operand<TFloat32> pictures(Ops tf, Operand<TFloat32> x) {
    var planes = tf.reshape(x, tf.constant(new int[] {-1, 3, 32, 32}));
    return tf.linalg.transpose(planes, tf.constant(new int[] {0, 2, 3, 1}));
  }

  private static Operand<TFloat32> twoConvolutions(
      Layers layers, Operand<TFloat32> images, Hidden hidden, int classes) {
    Ops tf = layers.tf();
    var extents = images.asOutput().shape();
    int side = (int) extents.get(1);
    int colours = (int) extents.get(3);
    var halves = new Layers.Window(2, 2, "SAME");
    var first =
        layers.pool(
            layers.convolution("conv1", images, Layers.Window.same(5), colours, 32), halves);
    var second =
        layers.pool(layers.convolution("conv2", first, Layers.Window.same(5), 32, 64), halves);
    int count = side / 4 * (side / 4) * 64;
    var flat = tf.reshape(second, tf.constant(new int[] {-1, count}));
    if (hidden.size() == Hidden.Size.ENLARGED) {
      return dense(layers, flat, count, 2048, 1024, classes);
    }
    var full = layers.hidden("dense1", flat, count, 1024);
    return layers.dense("dense2", full, 1024, classes);
  }

  /// Returns the number of weights and biases.
  public long parameters() {
    return variables.stream().mapToLong(v -> v.asOutput().shape().size()).sum();
  }

  @Override
  public void close() {
    graph.close();
  }
}
