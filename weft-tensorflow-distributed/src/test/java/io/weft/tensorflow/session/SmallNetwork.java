// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// A network of two dense layers for vectors of 64 numbers in 10 classes, with gradient descent.
///
/// @param graph graph without devices
/// @param init targets that initialize the weights
/// @param weights fetches that read the weights
record SmallNetwork(GraphDef graph, List<String> init, List<String> weights) {

  static final GraphCall TRAIN =
      new GraphCall(List.of("x", "y"), List.of("loss:0"), List.of("train"));

  private static final int INPUTS = 64;
  private static final int CLASSES = 10;
  private static final int BATCH = 16;
  private static final int[][] SHAPES = {{INPUTS, 48}, {48}, {48, CLASSES}, {CLASSES}};

  static SmallNetwork build() {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var x = tf.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, INPUTS)));
      var y =
          tf.withName("y").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, CLASSES)));
      List<String> init = new ArrayList<>();
      List<VarHandleOp> handles = new ArrayList<>();
      List<Operand<TFloat32>> weights = new ArrayList<>();
      for (int i = 0; i < SHAPES.length; i++) {
        long[] dims = Arrays.stream(SHAPES[i]).asLongStream().toArray();
        VarHandleOp handle = tf.withName("w" + i).varHandleOp(TFloat32.class, Shape.of(dims));
        var random =
            tf.random.statelessRandomNormal(tf.constant(dims), tf.constant(new long[] {7, i}));
        Op assign = tf.assignVariableOp(handle, tf.math.mul(random, tf.constant(0.1f)));
        init.add(assign.op().name());
        handles.add(handle);
        weights.add(tf.withName("read" + i).readVariableOp(handle, TFloat32.class));
      }
      var hidden = tf.nn.relu(tf.nn.biasAdd(tf.linalg.matMul(x, weights.get(0)), weights.get(1)));
      var logits = tf.nn.biasAdd(tf.linalg.matMul(hidden, weights.get(2)), weights.get(3));
      var loss =
          tf.withName("loss")
              .math
              .mean(tf.nn.softmaxCrossEntropyWithLogits(logits, y).loss(), tf.constant(0));
      Output<?>[] gradients =
          graph.addGradients(
              loss.asOutput(), weights.stream().map(Operand::asOutput).toArray(Output<?>[]::new));
      List<Op> applies = new ArrayList<>();
      for (int i = 0; i < gradients.length; i++) {
        applies.add(
            tf.train.resourceApplyGradientDescent(
                handles.get(i), tf.constant(0.1f), gradients[i].expect(TFloat32.class)));
      }
      tf.withName("train").withControlDependencies(applies).noOp();
      return new SmallNetwork(
          named(graph.toGraphDef()),
          init,
          weights.stream().map(w -> w.asOutput().op().name() + ":0").toList());
    }
  }

  /// Names each variable after its node, as a local session requires.
  private static GraphDef named(GraphDef graph) {
    GraphDef.Builder all = graph.toBuilder();
    all.getNodeBuilderList().stream()
        .filter(node -> node.getOp().equals("VarHandleOp"))
        .forEach(
            node ->
                node.putAttr(
                    "shared_name",
                    org.tensorflow.proto.AttrValue.newBuilder().setS(node.getNameBytes()).build()));
    return all.build();
  }

  /// Returns the feeds of this step. The caller owns them.
  static Map<String, Tensor> batch(int step) {
    Random random = new Random(step);
    float[][] images = new float[BATCH][INPUTS];
    float[][] labels = new float[BATCH][CLASSES];
    for (int row = 0; row < BATCH; row++) {
      for (int i = 0; i < INPUTS; i++) {
        images[row][i] = random.nextFloat();
      }
      labels[row][random.nextInt(CLASSES)] = 1;
    }
    return Map.of(
        "x",
        TFloat32.tensorOf(StdArrays.ndCopyOf(images)),
        "y",
        TFloat32.tensorOf(StdArrays.ndCopyOf(labels)));
  }
}
