// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.tensor.DType.FLOAT32;
import static io.weft.tensor.DType.INT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensorflow.RankGraphs.Value;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.types.TFloat32;

class AllgatherOpTest {

  @ParameterizedTest
  @EnumSource
  void everyElementTypeIsGatheredInOneToThreeDimensions(DType type) {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r ->
                List.of(
                    r.weft().allgather(r.filled(type, r.number(), 1), "one"),
                    r.weft().allgather(r.filled(type, r.number(), 1, 2), "two"),
                    r.weft().allgather(r.filled(type, r.number(), 1, 1, 2), "three")));
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).containsExactly(0, 1, 2);
              assertThat(values.get(1).elements()).containsExactly(0, 0, 1, 1, 2, 2);
              assertThat(values.get(2).shape()).containsExactly(3L, 1L, 2L);
            });
  }

  @Test
  void ranksMayHaveDifferentNumbersOfRowsOrNone() {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r -> {
              Operand<TFloat32> gathered =
                  r.weft().allgather(r.filled(FLOAT32, r.number() + 1, 2 * r.number(), 2), "x");
              assertThat(gathered.shape()).hasToString("[-1, 2]");
              return List.of(gathered);
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).shape()).containsExactly(6L, 2L);
              assertThat(values.get(0).elements())
                  .containsExactly(2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
            });
  }

  @Test
  void tensorsOfDifferentLengthsAreGatheredInOneStep() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              List<Operand<?>> all = new ArrayList<>();
              for (int i = 0; i < 20; i++) {
                int number = r.number() == 0 ? i : 19 - i;
                all.add(
                    r.weft().allgather(r.filled(INT64, number, number + r.number()), "x" + number));
              }
              return r.number() == 0 ? all : all.reversed();
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              for (int i = 0; i < 20; i++) {
                assertThat(values.get(i).elements()).hasSize(2 * i + 1).containsOnly(i);
              }
            });
  }

  @Test
  void longTensorsAreGathered() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2, r -> List.of(r.weft().allgather(r.filled(FLOAT32, r.number(), 10_000), "long")));
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).hasSize(20_000).startsWith(0).endsWith(1);
              assertThat(java.util.Arrays.stream(values.get(0).elements()).sum()).isEqualTo(10_000);
            });
  }

  @Test
  void groupOfSeveralTypesIsGathered() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r ->
                r.weft()
                    .groupedAllgather(
                        List.of(
                            r.filled(FLOAT32, r.number(), 1 + r.number(), 2),
                            r.filled(INT64, r.number() + 4, 1)),
                        "group"));
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).containsExactly(0, 0, 1, 1, 1, 1);
              assertThat(values.get(1).elements()).containsExactly(4, 5);
            });
  }

  @Test
  void gradientIsTheRanksOwnRowsOfTheSum() {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r -> {
              Operand<TFloat32> x = r.filled(FLOAT32, 1, 1 + r.number(), 2);
              Operand<TFloat32> y = r.weft().allgather(x, "x");
              // Row i of the joint tensor has the weight i + 1, and rank r's loss the weight r + 1.
              Operand<TFloat32> rows =
                  r.numbers(FLOAT32, new long[] {6, 2}, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6);
              return List.of(r.gradient(r.tf().math.mul(y, rows), x, r.number() + 1));
            });
    assertThat(ranks.get(0).get(0).elements()).containsExactly(6, 6);
    assertThat(ranks.get(1).get(0).elements()).containsExactly(12, 12, 18, 18);
    assertThat(ranks.get(2).get(0).elements()).containsExactly(24, 24, 30, 30, 36, 36);
    assertThat(ranks.get(2).get(0).shape()).containsExactly(3L, 2L);
  }

  @Test
  void gradientOfAGroupIsTheGradientOfEachTensor() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Operand<TFloat32> a = r.filled(FLOAT32, 1, 1);
              Operand<TFloat32> b = r.filled(FLOAT32, 1, 2 - r.number());
              List<Operand<?>> both = r.weft().groupedAllgather(List.of(a, b), "group");
              Operand<TFloat32> sum =
                  r.tf()
                      .math
                      .add(
                          total(r, both.get(0)),
                          r.tf().math.mul(total(r, both.get(1)), r.tf().constant(10f)));
              Output<?>[] gradients =
                  r.graph()
                      .addGradients(sum.asOutput(), new Output<?>[] {a.asOutput(), b.asOutput()});
              return List.of(gradients[0], gradients[1]);
            });
    assertThat(ranks.get(0).get(0).elements()).containsExactly(2);
    assertThat(ranks.get(0).get(1).elements()).containsExactly(20, 20);
    assertThat(ranks.get(1).get(1).elements()).containsExactly(20);
  }

  private static Operand<TFloat32> total(RankGraphs.Rank r, Operand<?> value) {
    return r.tf().reduceSum(value.asOutput().expect(TFloat32.class), r.tf().constant(0));
  }

  @Test
  void scalarIsRefusedOnAllRanksWhenTheGraphIsBuilt() {
    List<String> messages =
        RankGraphs.failures(2, r -> List.of(r.weft().allgather(r.filled(FLOAT32, 1), "scalar")));
    assertThat(messages).allSatisfy(m -> assertThat(m).contains("scalar").contains("rank 1"));
  }

  @Test
  void scalarOfUnknownStaticShapeIsRefusedOnAllRanks() {
    List<String> messages =
        RankGraphs.failures(
            2,
            r -> {
              Operand<TFloat32> unknown =
                  r.tf()
                      .placeholderWithDefault(
                          r.<TFloat32>filled(FLOAT32, 1), org.tensorflow.ndarray.Shape.unknown());
              return List.of(r.weft().allgather(unknown, "later"));
            });
    assertThat(messages)
        .allSatisfy(m -> assertThat(m).contains("'later'").contains("a scalar has no rows"));
  }

  @Test
  void disagreementOnRowShapeOrTypeFailsAllRanks() {
    List<String> shapes =
        RankGraphs.failures(
            2, r -> List.of(r.weft().allgather(r.filled(FLOAT32, 1, 2, 3 + r.number()), "x")));
    assertThat(shapes)
        .allSatisfy(m -> assertThat(m).contains("FLOAT32[*, 3]").contains("FLOAT32[*, 4]"));
    List<String> types =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft().allgather(r.filled(r.number() == 0 ? FLOAT32 : INT64, 1, 2), "x")));
    assertThat(types).allSatisfy(m -> assertThat(m).contains("FLOAT32[").contains("INT64["));
  }
}
