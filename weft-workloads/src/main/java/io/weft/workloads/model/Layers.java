// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A builder of layers with weights, which are added to a graph in turn. Initial weights are drawn
/// from a normal distribution of deviation sqrt(2 / inputs), truncated at two deviations [He et al.
/// 2015]. They depend only on the seed and on the position of the layer. Initial biases are 0.
final class Layers {

  private final Graph graph;
  private final Ops tf;
  private final long seed;
  private final Readings readings;
  private final Activation activation;
  private final Optional<Dropout> dropout;
  private final List<Variable<TFloat32>> variables = new ArrayList<>();
  private final List<SparseTable> tables = new ArrayList<>();

  Layers(Graph graph, long seed) {
    this(graph, seed, Hidden.STANDARD, Readings.VARIABLES);
  }

  Layers(Graph graph, long seed, Hidden hidden, Readings readings) {
    this.graph = graph;
    this.tf = Ops.create(graph);
    this.seed = seed;
    this.readings = readings;
    this.activation = hidden.activation();
    this.dropout = hidden.dropout() == 0 ? Optional.empty() : Optional.of(new Dropout(tf));
  }

  Ops tf() {
    return tf;
  }

  /// Returns the created weights and biases, in order of creation.
  List<Variable<TFloat32>> variables() {
    return List.copyOf(variables);
  }

  /// Returns the created tables, in order of creation.
  List<SparseTable> tables() {
    return List.copyOf(tables);
  }

  /// Returns `x W + b` of shape batch by outputs.
  Operand<TFloat32> dense(String name, Operand<TFloat32> x, int inputs, int outputs) {
    var weights = value(weights(name, inputs, inputs, outputs), x);
    return tf.nn.biasAdd(tf.linalg.matMul(x, weights), value(bias(name, outputs), x));
  }

  /// Returns a hidden layer: the activation of `x W + b`, of shape batch by outputs.
  Operand<TFloat32> hidden(String name, Operand<TFloat32> x, int inputs, int outputs) {
    Operand<TFloat32> sums = dense(name, x, inputs, outputs);
    Operand<TFloat32> active =
        switch (activation) {
          case RELU -> tf.nn.relu(sums);
          case SIGMOID -> tf.math.sigmoid(sums);
        };
    return dropout.isPresent() ? dropout.get().of(active) : active;
  }

  /// A square that slides over images: its side, its stride, and TensorFlow's padding mode.
  record Window(int side, int stride, String padding) {

    /// Returns a window of stride 1 whose output has one position for each pixel.
    static Window same(int side) {
      return new Window(side, 1, "SAME");
    }

    /// Returns a window that stays inside the image.
    static Window inside(int side, int stride) {
      return new Window(side, stride, "VALID");
    }
  }

  /// Returns the ReLU of a convolution.
  Operand<TFloat32> convolution(
      String name, Operand<TFloat32> x, Window window, int inputs, int outputs) {
    int side = window.side();
    var weights = value(weights(name, side * side * inputs, side, side, inputs, outputs), x);
    long stride = window.stride();
    var convolved = tf.nn.conv2d(x, weights, List.of(1L, stride, stride, 1L), window.padding());
    return tf.nn.relu(tf.nn.biasAdd(convolved, value(bias(name, outputs), x)));
  }

  /// Returns the maximum of each window.
  Operand<TFloat32> pool(Operand<TFloat32> x, Window window) {
    int side = window.side();
    int stride = window.stride();
    return tf.nn.maxPool(
        x,
        tf.constant(new int[] {1, side, side, 1}),
        tf.constant(new int[] {1, stride, stride, 1}),
        window.padding());
  }

  /// Returns the rows of a new table that `ids` selects, looked up on the device of the table.
  Operand<TFloat32> rows(String name, Operand<TInt32> ids, int rows, int width, float deviation) {
    var table = normal(name + "_table", deviation, rows, width);
    Output<TFloat32> found =
        graph
            .opBuilder("GatherV2", name + "_rows", graph.baseScope())
            .addInput(table.asOutput())
            .addInput(ids.asOutput())
            .addInput(tf.constant(0).asOutput())
            .setAttr("_class", new String[] {"loc:@" + table.op().name()})
            .build()
            .output(0);
    tables.add(new SparseTable(table, ids, found));
    return found;
  }

  /// Returns the value of a variable, read once in a step on the variable's device. If ops used the
  /// variable itself, TensorFlow's distributed runtime would fetch it again for each op on another
  /// task, and the backward pass could see an update that the forward pass did not see.
  ///
  /// @param input of the layer
  private Operand<TFloat32> value(Variable<TFloat32> variable, Operand<TFloat32> input) {
    String name = variable.op().name();
    Output<TFloat32> value =
        graph
            .opBuilder("Identity", name + Readings.SUFFIX, graph.baseScope())
            .addInput(variable.asOutput())
            .setAttr("_class", new String[] {"loc:@" + name})
            .build()
            .output(0);
    return readings.of(value, input);
  }

  private Variable<TFloat32> weights(String name, int fanIn, int... shape) {
    return normal(name + "_weights", (float) Math.sqrt(2.0 / fanIn), shape);
  }

  private Variable<TFloat32> normal(String name, float deviation, int... shape) {
    var variable = variable(name, shape);
    Ops init = tf.withInitScope();
    var normal =
        init.random.statelessTruncatedNormal(
            init.constant(shape), init.constant(new long[] {seed, variables.size()}));
    var ignored = init.assign(variable, init.math.mul(normal, init.constant(deviation)));
    return variable;
  }

  private Variable<TFloat32> bias(String name, int outputs) {
    var variable = variable(name + "_bias", outputs);
    Ops init = tf.withInitScope();
    var ignored =
        init.assign(variable, init.zeros(init.constant(new int[] {outputs}), TFloat32.class));
    return variable;
  }

  private Variable<TFloat32> variable(String name, int... shape) {
    long[] extents = new long[shape.length];
    for (int d = 0; d < shape.length; d++) {
      extents[d] = shape[d];
    }
    var variable = tf.withName(name).variable(Shape.of(extents), TFloat32.class);
    variables.add(variable);
    return variable;
  }
}
