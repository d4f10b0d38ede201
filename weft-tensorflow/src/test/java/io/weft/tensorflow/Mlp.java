// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import io.weft.gradient.GradientReducer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

/// A network of 8, 16 and 3 units, for a problem drawn from a seed. Its initial weights are random
/// without a seed when `weightSeed` is 0.
final class Mlp implements AutoCloseable {

  static final int BATCH = 32;
  private static final int[][] SHAPES = {{8, 16}, {16}, {16, 3}, {3}};

  final Graph graph = new Graph();
  final List<Variable<TFloat32>> variables = new ArrayList<>();
  private final Placeholder<TFloat32> x;
  private final Placeholder<TFloat32> y;
  private final Op train;
  Session session;

  Mlp(long weightSeed, @Nullable Communicator communicator, Function<Graph, Optimizer> optimizer) {
    this(weightSeed, communicator, GradientReducer.ALLREDUCE, optimizer);
  }

  Mlp(
      long weightSeed,
      @Nullable Communicator communicator,
      GradientReducer.Factory reducers,
      Function<Graph, Optimizer> optimizer) {
    Ops tf = Ops.create(graph);
    x = tf.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, 8)));
    y = tf.withName("y").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, 3)));
    Ops init = tf.withInitScope();
    for (int i = 0; i < SHAPES.length; i++) {
      long[] dims = java.util.Arrays.stream(SHAPES[i]).asLongStream().toArray();
      Variable<TFloat32> variable = tf.withName("v" + i).variable(Shape.of(dims), TFloat32.class);
      variables.add(variable);
      Operand<TFloat32> start =
          init.random.statelessRandomNormal(
              init.constant(dims), init.constant(new long[] {weightSeed, i}));
      init.assign(variable, init.math.mul(start, init.constant(0.3f)));
    }
    var hidden = tf.nn.relu(tf.nn.biasAdd(tf.linalg.matMul(x, variables.get(0)), variables.get(1)));
    var logits = tf.nn.biasAdd(tf.linalg.matMul(hidden, variables.get(2)), variables.get(3));
    var loss = tf.math.mean(tf.nn.softmaxCrossEntropyWithLogits(logits, y).loss(), tf.constant(0));
    Optimizer local = optimizer.apply(graph);
    train =
        (communicator == null
                ? local
                : new DistributedOptimizer(
                    communicator, reducers, local, DistributedOptimizer.Updates.AS_THEY_COME))
            .minimize(loss);
    session = new Session(graph, OpLibrary.load().sessionConfig(graph));
    session.initialize();
  }

  /// Returns the name of the op that performs a step.
  String trainName() {
    return train.op().name();
  }

  /// Trains for `steps` steps on the rows `from` to `from + rows` of each step's joint batch.
  void train(int steps, int jointRows, int from, int rows) {
    for (int step = 0; step < steps; step++) {
      Random random = new Random(step);
      float[][] features = new float[jointRows][8];
      float[][] labels = new float[jointRows][3];
      for (int row = 0; row < jointRows; row++) {
        int best = 0;
        for (int i = 0; i < 8; i++) {
          features[row][i] = (float) random.nextGaussian();
          best = i < 3 && features[row][i] > features[row][best] ? i : best;
        }
        labels[row][best] = 1;
      }
      try (TFloat32 fedX = slice(features, from, rows);
          TFloat32 fedY = slice(labels, from, rows)) {
        session.runner().feed(x, fedX).feed(y, fedY).addTarget(train).run().close();
      }
    }
  }

  /// Returns the concatenation of all weights.
  float[] weights() {
    return values(variables);
  }

  /// Returns the concatenation of these operands' values.
  float[] values(List<? extends Operand<?>> operands) {
    Session.Runner runner = session.runner();
    operands.forEach(runner::fetch);
    try (Result result = runner.run()) {
      float[] all = new float[0];
      for (int i = 0; i < operands.size(); i++) {
        float[] next =
            TensorViews.of(result.get(i))
                .data()
                .toArray(java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED);
        float[] joined = java.util.Arrays.copyOf(all, all.length + next.length);
        System.arraycopy(next, 0, joined, all.length, next.length);
        all = joined;
      }
      return all;
    }
  }

  @Override
  public void close() {
    session.close();
    graph.close();
  }

  private static TFloat32 slice(float[][] rows, int from, int count) {
    int width = rows[0].length;
    TFloat32 tensor = TFloat32.tensorOf(Shape.of(count, width));
    MemorySegment data = TensorViews.of(tensor).data();
    for (int row = 0; row < count; row++) {
      MemorySegment.copy(
          MemorySegment.ofArray(rows[from + row]), 0, data, 4L * width * row, 4L * width);
    }
    return tensor;
  }
}
