// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.tensor.DType.FLOAT32;
import static io.weft.tensor.DType.FLOAT64;
import static io.weft.tensor.DType.INT32;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.RankGraphs.Value;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.types.TFloat32;

class ReduceScatterOpTest {

  @ParameterizedTest
  @EnumSource
  void everyElementTypeIsReducedInOneToThreeDimensions(DType type) {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Operand<?> two =
                  r.weft().reduceScatter(r.filled(type, r.number() + 1, 4, 3), "two", ReduceOp.SUM);
              assertThat(two.shape()).hasToString("[-1, 3]");
              return List.of(
                  r.weft().reduceScatter(r.filled(type, r.number() + 1, 4), "one", ReduceOp.SUM),
                  two,
                  r.weft()
                      .reduceScatter(r.filled(type, r.number() + 1, 2, 1, 3), "x", ReduceOp.MAX));
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).containsExactly(3, 3);
              assertThat(values.get(1).shape()).containsExactly(2L, 3L);
              assertThat(values.get(2).elements()).containsExactly(2, 2, 2);
            });
  }

  @Test
  void remainingRowsGoToTheFirstRanks() {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r ->
                List.of(
                    r.weft()
                        .reduceScatter(
                            r.numbers(FLOAT32, new long[] {5}, 1, 2, 3, 4, 5), "x", ReduceOp.SUM),
                    r.weft().reduceScatter(r.filled(FLOAT32, 1, 1, 2), "short", ReduceOp.SUM)));
    assertThat(ranks.get(0).get(0).elements()).containsExactly(3, 6);
    assertThat(ranks.get(1).get(0).elements()).containsExactly(9, 12);
    assertThat(ranks.get(2).get(0).elements()).containsExactly(15);
    assertThat(ranks.get(0).get(1).elements()).containsExactly(3, 3);
    assertThat(ranks.get(1).get(1).shape()).containsExactly(0L, 2L);
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
                          .reduceScatter(
                              r.filled(type, r.number() + 1, 2),
                              "before",
                              ReduceOp.SUM,
                              new Scale(0.5, 1)),
                      r.weft()
                          .reduceScatter(
                              r.filled(type, r.number() + 1, 2),
                              "after",
                              ReduceOp.AVERAGE,
                              new Scale(1, 4))));
      assertThat(ranks)
          .allSatisfy(
              values -> {
                assertThat(values.get(0).elements()).containsExactly(1.5);
                assertThat(values.get(1).elements()).containsExactly(6);
              });
    }
    List<String> messages =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft()
                        .reduceScatter(r.filled(INT32, 1, 2), "x", ReduceOp.SUM, new Scale(1, 2))));
    assertThat(messages).allSatisfy(m -> assertThat(m).contains("INT32"));
  }

  @Test
  void tensorsOfDifferentLengthsAreReducedInOneStep() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              List<Operand<?>> all = new ArrayList<>();
              for (int i = 0; i < 20; i++) {
                int number = r.number() == 0 ? i : 19 - i;
                all.add(
                    r.weft()
                        .reduceScatter(
                            r.filled(FLOAT32, number, number + 1), "x" + number, ReduceOp.SUM));
              }
              return r.number() == 0 ? all : all.reversed();
            });
    for (int i = 0; i < 20; i++) {
      assertThat(ranks.get(0).get(i).elements()).hasSize((i + 2) / 2).containsOnly(2 * i);
      assertThat(ranks.get(1).get(i).elements()).hasSize((i + 1) / 2);
    }
  }

  @Test
  void groupOfSeveralTypesIsReducedAndScaled() {
    List<List<Value>> plain =
        RankGraphs.run(
            2,
            r ->
                r.weft()
                    .groupedReduceScatter(
                        List.of(r.filled(FLOAT32, 1, 3, 2), r.filled(INT32, 4, 2)),
                        "group",
                        ReduceOp.SUM));
    assertThat(plain.get(0).get(0).shape()).containsExactly(2L, 2L);
    assertThat(plain.get(1).get(0).shape()).containsExactly(1L, 2L);
    assertThat(plain).allSatisfy(v -> assertThat(v.get(1).elements()).containsExactly(8));
    List<List<Value>> scaled =
        RankGraphs.run(
            2,
            r ->
                r.weft()
                    .groupedReduceScatter(
                        List.of(r.filled(FLOAT32, 1, 2), r.filled(FLOAT64, 2, 2)),
                        "group",
                        ReduceOp.SUM,
                        new Scale(0.25, 2)));
    assertThat(scaled)
        .allSatisfy(
            v -> {
              assertThat(v.get(0).elements()).containsExactly(1);
              assertThat(v.get(1).elements()).containsExactly(2);
            });
  }

  @Test
  void gradientIsTheConcatenationOfTheGradientsOfAllParts() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              List<Operand<?>> gradients = new ArrayList<>();
              for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.AVERAGE)) {
                Operand<TFloat32> x = r.filled(FLOAT32, 5, 3, 2);
                Operand<TFloat32> y = r.weft().reduceScatter(x, op.name(), op);
                gradients.add(r.gradient(y, x, 2 * r.number() + 2));
              }
              return gradients;
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).containsExactly(2, 2, 2, 2, 4, 4);
              assertThat(values.get(1).elements()).containsExactly(1, 1, 1, 1, 2, 2);
            });
  }

  @Test
  void gradientOfAScaledGroupIsTheGradientOfEachTensor() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Operand<TFloat32> a = r.filled(FLOAT32, 1, 2);
              Operand<TFloat32> b = r.filled(FLOAT32, 1, 4);
              List<Operand<?>> both =
                  r.weft()
                      .groupedReduceScatter(
                          List.of(a, b), "group", ReduceOp.SUM, new Scale(3, 0.5));
              Operand<TFloat32> sum =
                  r.tf()
                      .concat(
                          List.of(
                              both.get(0).asOutput().expect(TFloat32.class),
                              both.get(1).asOutput().expect(TFloat32.class)),
                          r.tf().constant(0));
              Output<?>[] gradients =
                  r.graph()
                      .addGradients(sum.asOutput(), new Output<?>[] {a.asOutput(), b.asOutput()});
              return List.of(gradients[0], gradients[1]);
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).hasSize(2).containsOnly(1.5);
              assertThat(values.get(1).elements()).hasSize(4).containsOnly(1.5);
            });
  }

  @Test
  void scalarIsRefusedOnAllRanks() {
    for (boolean grouped : new boolean[] {false, true}) {
      List<String> messages =
          RankGraphs.failures(
              2,
              r ->
                  grouped
                      ? r.weft()
                          .groupedReduceScatter(
                              List.of(r.filled(FLOAT32, 1, 2), r.filled(FLOAT32, 1)),
                              "x",
                              ReduceOp.SUM)
                      : List.of(r.weft().reduceScatter(r.filled(FLOAT32, 1), "x", ReduceOp.SUM)));
      assertThat(messages).allSatisfy(m -> assertThat(m).contains("x").contains("rank 1"));
    }
  }

  @Test
  void disagreementOnShapeOrTypeFailsAllRanks() {
    List<String> shapes =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft()
                        .reduceScatter(
                            r.filled(FLOAT32, 1, 2, 3 + r.number()), "x", ReduceOp.SUM)));
    assertThat(shapes)
        .allSatisfy(m -> assertThat(m).contains("FLOAT32[2, 3]").contains("FLOAT32[2, 4]"));
    List<String> types =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft()
                        .reduceScatter(
                            r.filled(r.number() == 0 ? FLOAT32 : INT32, 1, 2), "x", ReduceOp.SUM)));
    assertThat(types).allSatisfy(m -> assertThat(m).contains("FLOAT32[2]").contains("INT32[2]"));
  }
}
