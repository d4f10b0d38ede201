// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TFloat32;

class CollectiveOpsTest {

  private final InMemoryRanks ranks = new InMemoryRanks(2);

  @AfterEach
  void close() {
    ranks.close();
  }

  @ParameterizedTest
  @EnumSource
  void allreduceComputesEveryReduction(ReduceOp op) throws Exception {
    List<float[]> results = reduced(op, new float[][] {{1, -2, 8}, {4, 6, 2}});
    float[] expected =
        switch (op) {
          case SUM -> new float[] {5, 4, 10};
          case AVERAGE -> new float[] {2.5f, 2, 5};
          case MIN -> new float[] {1, -2, 2};
          case MAX -> new float[] {4, 6, 8};
          case PRODUCT -> new float[] {4, -12, 16};
        };
    assertThat(results).allSatisfy(result -> assertThat(result).containsExactly(expected));
  }

  @ParameterizedTest
  @EnumSource
  void allreduceSupportsEveryElementType(DType dtype) throws Exception {
    List<float[]> results =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Ops tf = Ops.create(graph);
                    Operand<TFloat32> value = tf.constant(new float[] {1 + rank, 10, 20 + rank});
                    Output<?> typed = cast(graph, "to", value.asOutput(), DataTypes.of(dtype));
                    Output<?> sum =
                        new WeftOps(graph, ranks.of(rank))
                            .allreduce(typed, "sum", ReduceOp.SUM)
                            .asOutput();
                    return run(graph, cast(graph, "back", sum, DataTypes.of(DType.FLOAT32)));
                  }
                });
    assertThat(results).allSatisfy(result -> assertThat(result).containsExactly(3, 20, 41));
  }

  @Test
  void broadcastGivesTheRootsValue() throws Exception {
    List<float[]> results =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Operand<TFloat32> mine = Ops.create(graph).constant(new float[] {rank, 7});
                    return run(graph, new WeftOps(graph, ranks.of(rank)).broadcast(mine, "b", 1));
                  }
                });
    assertThat(results).allSatisfy(result -> assertThat(result).containsExactly(1, 7));
  }

  @Test
  void opsThatRunInDifferentOrdersAreMatchedByName() throws Exception {
    int count = 20;
    List<float[]> results =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Ops tf = Ops.create(graph);
                    WeftOps weft = new WeftOps(graph, ranks.of(rank));
                    List<Op> before = List.of();
                    List<Operand<TFloat32>> sums = new ArrayList<>();
                    for (int i = 0; i < count; i++) {
                      int number = rank == 0 ? i : count - 1 - i;
                      Operand<TFloat32> x =
                          tf.withControlDependencies(before)
                              .math
                              .add(tf.constant(new float[] {number}), tf.constant(0f));
                      before = List.of(x);
                      sums.add(weft.allreduce(x, "x" + number, ReduceOp.SUM));
                    }
                    return run(
                        graph, tf.concat(rank == 0 ? sums : sums.reversed(), tf.constant(0)));
                  }
                });
    assertThat(results.get(0)).hasSize(count).startsWith(0, 2, 4).endsWith(38);
    assertThat(results.get(1)).containsExactly(results.get(0));
  }

  @Test
  void outputHasTheInputsStaticShape() {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      Placeholder<TFloat32> x = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, 16)));
      assertThat(new WeftOps(graph, ranks.of(0)).allreduce(x, "x", ReduceOp.SUM).shape())
          .hasToString("[-1, 16]");
    }
  }

  @Test
  void gradientIsTheSameReductionOfTheGradient() throws Exception {
    List<float[]> results =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Ops tf = Ops.create(graph);
                    Operand<TFloat32> x = tf.constant(new float[] {rank + 1});
                    Operand<TFloat32> sum =
                        new WeftOps(graph, ranks.of(rank)).allreduce(x, "s", ReduceOp.SUM);
                    Operand<TFloat32> loss =
                        tf.math.mul(tf.math.square(sum), tf.constant(rank + 1f));
                    Output<?>[] gradient =
                        graph.addGradients(loss.asOutput(), new Output<?>[] {x.asOutput()});
                    return run(graph, gradient[0]);
                  }
                });
    // d/dx of 1*(x0+x1)^2 + 2*(x0+x1)^2 at x0+x1 = 3
    assertThat(results).allSatisfy(result -> assertThat(result).containsExactly(18));
  }

  @Test
  void gradientOfAReductionWithoutOneIsRefused() {
    try (Graph graph = new Graph()) {
      Operand<TFloat32> x = Ops.create(graph).constant(new float[] {1});
      Operand<TFloat32> max = new WeftOps(graph, ranks.of(0)).allreduce(x, "m", ReduceOp.MAX);
      assertThatThrownBy(() -> graph.addGradients(max.asOutput(), new Output<?>[] {x.asOutput()}))
          .hasMessageContaining("no gradient");
    }
  }

  @Test
  void unsupportedTypeIsRefusedWhenTheGraphIsBuilt() {
    try (Graph graph = new Graph()) {
      Operand<TBool> x = Ops.create(graph).constant(true);
      WeftOps weft = new WeftOps(graph, ranks.of(0));
      assertThatThrownBy(() -> weft.allreduce(x, "x", ReduceOp.MAX))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("DT_BOOL");
    }
  }

  @Test
  void scalarsAndEmptyTensorsAreReduced() throws Exception {
    assertThat(reduced(ReduceOp.SUM, new float[][] {{}, {}}))
        .allSatisfy(r -> assertThat(r).isEmpty());
  }

  @Test
  void inputThatIsUsedElsewhereKeepsItsValue() throws Exception {
    List<float[]> results =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Ops tf = Ops.create(graph);
                    Placeholder<TFloat32> fed = tf.placeholder(TFloat32.class);
                    Operand<TFloat32> x = tf.math.add(fed, tf.constant(1f));
                    Operand<TFloat32> sum =
                        new WeftOps(graph, ranks.of(rank)).allreduce(x, "x", ReduceOp.SUM);
                    Operand<TFloat32> used =
                        tf.withControlDependencies(List.of(sum)).math.mul(x, tf.constant(100f));
                    try (Session session = new Session(graph);
                        TFloat32 in = TFloat32.vectorOf(rank, 5);
                        Result out =
                            session.runner().feed(fed, in).fetch(tf.math.add(used, sum)).run()) {
                      return floats(out);
                    }
                  }
                });
    assertThat(results.get(0)).containsExactly(103, 612);
    assertThat(results.get(1)).containsExactly(203, 612);
  }

  private List<float[]> reduced(ReduceOp op, float[][] inputs) throws Exception {
    return Together.run(
        2,
        rank ->
            () -> {
              try (Graph graph = new Graph()) {
                Operand<TFloat32> mine = Ops.create(graph).constant(inputs[rank]);
                return run(graph, new WeftOps(graph, ranks.of(rank)).allreduce(mine, "x", op));
              }
            });
  }

  private static Output<?> cast(
      Graph graph, String name, Output<?> value, org.tensorflow.proto.DataType type) {
    return graph
        .opBuilder("Cast", name, graph.baseScope())
        .addInput(value)
        .setAttr("DstT", type)
        .build()
        .output(0);
  }

  private static float[] run(Graph graph, Operand<?> fetched) {
    try (Session session = new Session(graph);
        Result result = session.runner().fetch(fetched).run()) {
      return floats(result);
    }
  }

  private static float[] floats(Result result) {
    return TensorViews.of(result.get(0))
        .data()
        .toArray(java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED);
  }
}
