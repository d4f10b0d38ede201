// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.placement.VariablePlacement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Checks training of a network for images of 28 by 28 pixels, whole and partitioned. Variables and
/// the ops that change them are on two servers, all other nodes on a worker.
class PartTrainingTest {

  private static final ClusterSpec CLUSTER =
      ClusterSpec.of(Map.of("ps", List.of("a:1", "b:1"), "worker", List.of("c:1")));
  private static final Task WORKER = new Task("worker", 0);
  private static final int BATCH = 16;
  private static final int STEPS = 5;
  private static final int[][] SHAPES = {{784, 32}, {32}, {32, 10}, {10}};

  enum GraphKind {
    REFERENCES,
    RESOURCES
  }

  /// The graph and the names with which it is called.
  ///
  /// @param inits initializers of the weights, followed by those of the optimizer's slots, which
  ///   read the shapes of the weights
  private record Model(
      GraphDef graph, String train, List<List<String>> inits, List<String> weights) {}

  @ParameterizedTest
  @EnumSource
  void partsTrainAsTheWholeGraphDoes(GraphKind kind) {
    Model model = model(kind);
    GraphDef placed =
        ReplicaDeviceSetter.of(CLUSTER, WORKER, VariablePlacement.BALANCED_BYTES)
            .place(model.graph);
    GraphPartition partition = new Partitioner(CLUSTER, WORKER).partition(placed);
    assertThat(partition.parts().keySet()).containsExactlyElementsOf(CLUSTER.tasks());
    List<byte[]> whole = new ArrayList<>();
    List<byte[]> parts = new ArrayList<>();
    try (Graph graph = new Graph();
        PartSessions sessions = new PartSessions(partition)) {
      graph.importGraphDef(model.graph);
      try (Session session = new Session(graph)) {
        for (List<String> init : model.inits) {
          run(session, new GraphCall(List.of(), List.of(), init), Map.of());
          sessions.run(new GraphCall(List.of(), List.of(), init), Map.of());
        }
        for (int step = 0; step < STEPS; step++) {
          try (TFloat32 x = images(step);
              TFloat32 y = labels(step)) {
            Map<String, Tensor> feeds = Map.of("x", x, "y", y);
            GraphCall train =
                new GraphCall(List.of("x", "y"), List.of("loss:0"), List.of(model.train));
            whole.addAll(run(session, train, feeds).values());
            parts.addAll(sessions.run(train, feeds).values());
          }
        }
        GraphCall read = new GraphCall(List.of(), model.weights, List.of());
        Map<String, byte[]> expected = run(session, read, Map.of());
        Map<String, byte[]> actual = sessions.run(read, Map.of());
        for (String weight : model.weights) {
          whole.add(expected.get(weight));
          parts.add(actual.get(weight));
        }
      }
    }
    assertThat(parts).hasSize(STEPS + model.weights.size());
    assertThat(parts).usingElementComparator(java.util.Arrays::compare).isEqualTo(whole);
    assertThat(whole.get(0)).as("a step changes the loss").isNotEqualTo(whole.get(1));
  }

  @ParameterizedTest
  @EnumSource
  void weightsUseOneRequestPerServerAndGradientsSeveral(GraphKind kind) {
    Model model = model(kind);
    GraphDef placed =
        ReplicaDeviceSetter.of(CLUSTER, WORKER, VariablePlacement.ROUND_ROBIN).place(model.graph);
    GraphPartition partition =
        new Partitioner(CLUSTER, WORKER).partition(placed, List.of(model.train, "loss"));
    List<ReceiveGroup> weights =
        partition.groups().stream()
            .filter(group -> group.destination().equals(WORKER))
            .filter(group -> group.transfers().stream().noneMatch(t -> t.tensor().startsWith("^")))
            .toList();
    assertThat(weights).hasSize(2).allMatch(group -> group.transfers().size() == 2);
    assertThat(partition.groups().stream().filter(g -> g.source().equals(WORKER)))
        .as("gradients of two layers, of which each server has one weight and one bias")
        .hasSizeGreaterThanOrEqualTo(4);
  }

  private static Model model(GraphKind kind) {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var x = tf.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, 784)));
      var y = tf.withName("y").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, 10)));
      List<Op> inits = new ArrayList<>();
      List<Operand<TFloat32>> weights = new ArrayList<>();
      List<VarHandleOp> handles = new ArrayList<>();
      for (int i = 0; i < SHAPES.length; i++) {
        weights.add(weight(tf, kind, i, inits, handles));
      }
      var hidden = tf.nn.relu(tf.nn.biasAdd(tf.linalg.matMul(x, weights.get(0)), weights.get(1)));
      var logits = tf.nn.biasAdd(tf.linalg.matMul(hidden, weights.get(2)), weights.get(3));
      var loss =
          tf.withName("loss")
              .math
              .mean(tf.nn.softmaxCrossEntropyWithLogits(logits, y).loss(), tf.constant(0));
      String train =
          switch (kind) {
            case REFERENCES -> new Momentum(graph, 0.1f, 0.9f).minimize(loss).op().name();
            case RESOURCES -> descend(graph, tf, loss, weights, handles);
          };
      List<String> init = inits.stream().map(op -> op.op().name()).toList();
      List<String> slots = new ArrayList<>();
      graph
          .operations()
          .forEachRemaining(
              (GraphOperation op) -> {
                if (op.type().equals("Assign") && !init.contains(op.name())) {
                  slots.add(op.name());
                }
              });
      return new Model(
          graph.toGraphDef(),
          train,
          slots.isEmpty() ? List.of(init) : List.of(init, slots),
          weights.stream().map(w -> w.asOutput().op().name() + ":0").toList());
    }
  }

  private static Operand<TFloat32> weight(
      Ops tf, GraphKind kind, int i, List<Op> inits, List<VarHandleOp> handles) {
    long[] dims = java.util.Arrays.stream(SHAPES[i]).asLongStream().toArray();
    Operand<TFloat32> start =
        tf.math.mul(
            tf.random.statelessRandomNormal(tf.constant(dims), tf.constant(new long[] {7, i})),
            tf.constant(0.1f));
    switch (kind) {
      case REFERENCES -> {
        var variable = tf.withName("w" + i).variable(Shape.of(dims), TFloat32.class);
        inits.add(tf.assign(variable, start));
        return variable;
      }
      case RESOURCES -> {
        VarHandleOp handle =
            tf.varHandleOp(TFloat32.class, Shape.of(dims), VarHandleOp.sharedName("w" + i));
        handles.add(handle);
        inits.add(tf.assignVariableOp(handle, start));
        return tf.withName("w" + i).readVariableOp(handle, TFloat32.class);
      }
    }
    throw new AssertionError(kind);
  }

  private static String descend(
      Graph graph,
      Ops tf,
      Operand<TFloat32> loss,
      List<Operand<TFloat32>> weights,
      List<VarHandleOp> handles) {
    Output<?>[] gradients =
        graph.addGradients(
            loss.asOutput(), weights.stream().map(Operand::asOutput).toArray(Output<?>[]::new));
    List<Op> applies = new ArrayList<>();
    for (int i = 0; i < gradients.length; i++) {
      applies.add(
          tf.train.resourceApplyGradientDescent(
              handles.get(i), tf.constant(0.1f), gradients[i].expect(TFloat32.class)));
    }
    return tf.withName("train").withControlDependencies(applies).noOp().op().name();
  }

  private static Map<String, byte[]> run(
      Session session, GraphCall call, Map<String, Tensor> feeds) {
    Session.Runner runner = session.runner();
    feeds.forEach(runner::feed);
    call.targets().forEach(runner::addTarget);
    call.fetches().forEach(runner::fetch);
    Map<String, byte[]> fetched = new java.util.HashMap<>();
    try (Result result = runner.run()) {
      for (int i = 0; i < call.fetches().size(); i++) {
        fetched.put(call.fetches().get(i), PartSessions.bytes(result.get(i)));
      }
    }
    return fetched;
  }

  private static TFloat32 images(int step) {
    Random random = new Random(step);
    float[][] rows = new float[BATCH][784];
    for (float[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        row[i] = random.nextFloat();
      }
    }
    return TFloat32.tensorOf(StdArrays.ndCopyOf(rows));
  }

  private static TFloat32 labels(int step) {
    Random random = new Random(~step);
    float[][] rows = new float[BATCH][10];
    for (float[] row : rows) {
      row[random.nextInt(row.length)] = 1;
    }
    return TFloat32.tensorOf(StdArrays.ndCopyOf(rows));
  }
}
