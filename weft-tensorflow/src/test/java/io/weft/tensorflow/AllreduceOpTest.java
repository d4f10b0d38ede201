// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.tensor.DType.FLOAT32;
import static io.weft.tensor.DType.FLOAT64;
import static io.weft.tensor.DType.INT32;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.RankGraphs.Value;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

class AllreduceOpTest {

  @ParameterizedTest
  @EnumSource
  void everyElementTypeIsReducedInOneToThreeDimensions(DType type) {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r ->
                List.of(
                    r.weft().allreduce(r.filled(type, r.number() + 1, 5), "one", ReduceOp.SUM),
                    r.weft().allreduce(r.filled(type, r.number() + 2, 2, 3), "two", ReduceOp.MAX),
                    r.weft()
                        .allreduce(r.filled(type, r.number() + 1, 2, 1, 2), "x", ReduceOp.MIN)));
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).hasSize(5).containsOnly(6);
              assertThat(values.get(1).elements()).hasSize(6).containsOnly(4);
              assertThat(values.get(2).elements()).hasSize(4).containsOnly(1);
              assertThat(values.get(2).shape()).containsExactly(2L, 1L, 2L);
            });
  }

  @Test
  void factorsBeforeAndAfterTheSumAreApplied() {
    for (DType type : List.of(DType.FLOAT16, DType.BFLOAT16, FLOAT32, FLOAT64)) {
      List<List<Value>> ranks =
          RankGraphs.run(
              2,
              r ->
                  List.of(
                      r.weft()
                          .allreduce(
                              r.filled(type, r.number() + 1, 4),
                              "before",
                              ReduceOp.SUM,
                              new Scale(0.5, 1)),
                      r.weft()
                          .allreduce(
                              r.filled(type, r.number() + 1, 4),
                              "after",
                              ReduceOp.SUM,
                              new Scale(1, 4)),
                      r.weft()
                          .allreduce(
                              r.filled(type, r.number() + 1, 4),
                              "both",
                              ReduceOp.AVERAGE,
                              new Scale(2, 4))));
      assertThat(ranks)
          .allSatisfy(
              values -> {
                assertThat(values.get(0).elements()).containsOnly(1.5);
                assertThat(values.get(1).elements()).containsOnly(12);
                assertThat(values.get(2).elements()).containsOnly(12);
              });
    }
  }

  @Test
  void factorsOfDoublesAreExact() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r ->
                List.of(
                    r.weft()
                        .allreduce(
                            r.filled(FLOAT64, 1, 1), "x", ReduceOp.SUM, new Scale(1, 1 / 3.0))));
    assertThat(ranks).allSatisfy(v -> assertThat(v.get(0).elements()).containsExactly(2 / 3.0));
  }

  @Test
  void factorsOfIntegersAreRefusedWhenTheGraphIsBuilt() {
    List<String> messages =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft()
                        .allreduce(r.filled(INT32, 1, 4), "x", ReduceOp.SUM, new Scale(0.5, 1))));
    assertThat(messages).allSatisfy(m -> assertThat(m).contains("INT32").contains("0.5"));
    assertThatThrownBy(() -> new Scale(Double.NaN, 1)).hasMessageContaining("finite");
  }

  @ParameterizedTest
  @EnumSource
  void groupOfSeveralTypesAndShapesIsReduced(ReduceOp op) {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r ->
                r.weft()
                    .groupedAllreduce(
                        List.of(
                            r.filled(FLOAT32, 2 * r.number() + 2, 3),
                            r.filled(INT32, 2 * r.number() + 2, 2, 2),
                            r.filled(FLOAT64, 2 * r.number() + 2, 1)),
                        "group",
                        op));
    double expected =
        switch (op) {
          case SUM -> 6;
          case AVERAGE -> 3;
          case MIN -> 2;
          case MAX -> 4;
          case PRODUCT -> 8;
        };
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values).hasSize(3);
              assertThat(values).allSatisfy(v -> assertThat(v.elements()).containsOnly(expected));
              assertThat(values.get(1).shape()).containsExactly(2L, 2L);
            });
  }

  @Test
  void groupIsScaled() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r ->
                r.weft()
                    .groupedAllreduce(
                        List.of(r.filled(FLOAT32, 1, 3), r.filled(FLOAT64, 2, 2)),
                        "group",
                        ReduceOp.SUM,
                        new Scale(0.25, 2)));
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).containsOnly(1);
              assertThat(values.get(1).elements()).containsOnly(2);
            });
  }

  @Test
  void outputsOfAGroupHaveTheInputsStaticShapes() {
    RankGraphs.on(
        1,
        weft -> {
          try (Graph graph = new Graph()) {
            Ops tf = Ops.create(graph);
            List<Operand<?>> outputs =
                new WeftOps(graph, weft.communicator())
                    .groupedAllreduce(
                        List.of(tf.constant(new float[3]), tf.constant(new int[2][5])),
                        "group",
                        ReduceOp.SUM);
            assertThat(outputs.get(0).shape()).hasToString("[3]");
            assertThat(outputs.get(1).shape()).hasToString("[2, 5]");
            return true;
          }
        });
  }

  @Test
  void gradientsOfSumAndAverageAreTheSumAndAverageOfGradients() {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r -> {
              List<Operand<?>> gradients = new ArrayList<>();
              for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.AVERAGE)) {
                Operand<TFloat32> x = r.filled(FLOAT32, 5, 2, 2);
                Operand<TFloat32> y = r.weft().allreduce(x, op.name(), op, new Scale(2, 0.5));
                gradients.add(r.gradient(y, x, r.number() + 1));
              }
              return gradients;
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).hasSize(4).containsOnly(6);
              assertThat(values.get(1).elements()).hasSize(4).containsOnly(2);
            });
  }

  @Test
  void gradientOfAGroupAllowsOutputsThatTheLossDoesNotUse() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Operand<TFloat32> x = r.filled(FLOAT32, 5, 2);
              Operand<TFloat32> other = r.filled(FLOAT32, 7, 3);
              Operand<TFloat32> y =
                  r.weft()
                      .groupedAllreduce(List.of(other, x), "group", ReduceOp.SUM)
                      .get(1)
                      .asOutput()
                      .expect(TFloat32.class);
              Output<?>[] both =
                  r.graph()
                      .addGradients(
                          r.tf().math.mul(y, r.tf().constant(r.number() + 1f)).asOutput(),
                          new Output<?>[] {x.asOutput(), other.asOutput()});
              return List.of(both[0], both[1]);
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).hasSize(2).containsOnly(3);
              assertThat(values.get(1).elements()).hasSize(3).containsOnly(0);
            });
  }

  @Test
  void disagreementOnShapesOfAGroupFailsAllRanks() {
    List<String> messages =
        RankGraphs.failures(
            2,
            r ->
                r.weft()
                    .groupedAllreduce(
                        List.of(r.filled(FLOAT32, 1, 3), r.filled(FLOAT32, 1, 4 + r.number())),
                        "group",
                        ReduceOp.SUM));
    assertThat(messages)
        .allSatisfy(
            m -> assertThat(m).contains("group/1").contains("FLOAT32[4]").contains("FLOAT32[5]"));
  }

  @Test
  void disagreementOnTypeFailsAllRanks() {
    List<String> messages =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft()
                        .allreduce(
                            r.filled(r.number() == 0 ? FLOAT32 : INT32, 1, 2), "x", ReduceOp.SUM)));
    assertThat(messages).allSatisfy(m -> assertThat(m).contains("FLOAT32[2]").contains("INT32[2]"));
  }

  @Test
  void rankAndSizeAreThoseOfTheCommunicator() {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r -> {
              Operand<TInt32> rank = r.weft().rank();
              assertThat(rank.shape()).hasToString("[]");
              return List.of(rank, r.weft().size());
            });
    for (int rank = 0; rank < 3; rank++) {
      assertThat(ranks.get(rank).get(0).elements()).containsExactly(rank);
      assertThat(ranks.get(rank).get(1).elements()).containsExactly(3);
    }
  }
}
