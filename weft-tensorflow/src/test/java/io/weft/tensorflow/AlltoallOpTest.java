// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.tensor.DType.FLOAT32;
import static io.weft.tensor.DType.INT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensorflow.RankGraphs.Value;
import io.weft.tensorflow.WeftOps.Exchanged;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Operand;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.family.TType;

class AlltoallOpTest {

  @ParameterizedTest
  @EnumSource
  void everyElementTypeIsSentBySplitsInOneToThreeDimensions(DType type) {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r -> {
              // Rank r sends k + 1 rows to rank k.
              Exchanged<?> one = sent(r, r.filled(type, r.number() + 1, 6), "one", 1, 2, 3);
              Exchanged<?> two = sent(r, r.filled(type, r.number() + 1, 6, 2), "two", 1, 2, 3);
              Exchanged<?> three = sent(r, r.filled(type, 1, 6, 1, 2), "three", 1, 2, 3);
              assertThat(two.output().shape()).hasToString("[-1, 2]");
              return List.of(one.output(), one.received(), two.output(), three.output());
            });
    for (int rank = 0; rank < 3; rank++) {
      List<Value> values = ranks.get(rank);
      int rows = rank + 1;
      assertThat(values.get(0).elements()).hasSize(3 * rows).startsWith(1).endsWith(3);
      assertThat(values.get(1).elements()).containsExactly(rows, rows, rows);
      assertThat(values.get(2).shape()).containsExactly(3L * rows, 2L);
      assertThat(values.get(3).shape()).containsExactly(3L * rows, 1L, 2L);
    }
  }

  @Test
  void withoutSplitsAllRanksGetEqualNumbersOfRows() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Exchanged<TFloat32> exchanged =
                  r.weft()
                      .alltoall(
                          r.<TFloat32>numbers(
                              FLOAT32,
                              new long[] {4},
                              10 * r.number(),
                              10 * r.number() + 1,
                              10 * r.number() + 2,
                              10 * r.number() + 3),
                          "x");
              return List.of(exchanged.output(), exchanged.received());
            });
    assertThat(ranks.get(0).get(0).elements()).containsExactly(0, 1, 10, 11);
    assertThat(ranks.get(1).get(0).elements()).containsExactly(2, 3, 12, 13);
    assertThat(ranks).allSatisfy(v -> assertThat(v.get(1).elements()).containsExactly(2, 2));
  }

  @Test
  void emptyTensorsAreExchanged() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Exchanged<?> empty = sent(r, r.filled(FLOAT32, 0, 0, 3), "empty", 0, 0);
              return List.of(empty.output(), empty.received());
            });
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).shape()).containsExactly(0L, 3L);
              assertThat(values.get(1).elements()).containsExactly(0, 0);
            });
  }

  @Test
  void aRankMaySendNothing() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Exchanged<?> exchanged =
                  r.number() == 1
                      ? sent(r, r.filled(FLOAT32, 9, 0), "x", 0, 0)
                      : sent(r, r.filled(FLOAT32, 1, 3), "x", 1, 2);
              return List.of(exchanged.output(), exchanged.received());
            });
    assertThat(ranks.get(0).get(0).elements()).containsExactly(1);
    assertThat(ranks.get(1).get(0).elements()).containsExactly(1, 1);
    assertThat(ranks.get(1).get(1).elements()).containsExactly(2, 0);
  }

  @Test
  void aRankMayReceiveNothing() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Exchanged<?> exchanged = sent(r, r.filled(FLOAT32, r.number(), 2), "x", 2, 0);
              return List.of(exchanged.output(), exchanged.received());
            });
    assertThat(ranks.get(0).get(0).elements()).containsExactly(0, 0, 1, 1);
    assertThat(ranks.get(1).get(0).elements()).isEmpty();
    assertThat(ranks.get(1).get(1).elements()).containsExactly(0, 0);
  }

  @Test
  void gradientReturnsToTheRanksThatSentTheRows() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Operand<TFloat32> x = r.filled(FLOAT32, 1, 3, 2);
              Operand<TFloat32> y =
                  r.weft().alltoall(x, r.tf().constant(new long[] {1, 2}), "x").output();
              return List.of(r.gradient(y, x, r.number() + 1));
            });
    assertThat(ranks)
        .allSatisfy(v -> assertThat(v.get(0).elements()).containsExactly(1, 1, 2, 2, 2, 2));
  }

  @Test
  void gradientWithoutSplitsReturnsToTheSenders() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              Operand<TFloat32> x = r.filled(FLOAT32, 1, 4);
              return List.of(r.gradient(r.weft().alltoall(x, "x").output(), x, r.number() + 1));
            });
    assertThat(ranks).allSatisfy(v -> assertThat(v.get(0).elements()).containsExactly(1, 1, 2, 2));
  }

  @Test
  void splitsThatDoNotSumToTheRowsFailAllRanks() {
    List<String> messages =
        RankGraphs.failures(2, r -> List.of(sent(r, r.filled(FLOAT32, 1, 3), "x", 1, 1).output()));
    assertThat(messages)
        .allSatisfy(m -> assertThat(m).contains("'x'").contains("[1, 1]").contains("3 rows"));
  }

  @Test
  void wrongSplitsOfOneRankFailTheOtherRank() {
    List<String> messages =
        RankGraphs.failures(
            2, r -> List.of(sent(r, r.filled(FLOAT32, 1, 3), "x", 1, 2 - r.number()).output()));
    assertThat(messages).allSatisfy(m -> assertThat(m).contains("'x'").contains("rank 1"));
  }

  @Test
  void rowsThatAreNotDivisibleByTheRanksNeedSplits() {
    List<String> messages =
        RankGraphs.failures(
            2, r -> List.of(r.weft().alltoall(r.filled(FLOAT32, 1, 3), "x").output()));
    assertThat(messages)
        .allSatisfy(m -> assertThat(m).contains("FLOAT32[3]").contains("give the rows"));
  }

  @Test
  void disagreementOnRowShapeOrTypeFailsAllRanks() {
    List<String> shapes =
        RankGraphs.failures(
            2,
            r -> List.of(r.weft().alltoall(r.filled(FLOAT32, 1, 2, 3 + r.number()), "x").output()));
    assertThat(shapes).allSatisfy(m -> assertThat(m).contains("3]").contains("4]"));
    List<String> types =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft()
                        .alltoall(r.filled(r.number() == 0 ? FLOAT32 : INT64, 1, 2), "x")
                        .output()));
    assertThat(types).allSatisfy(m -> assertThat(m).contains("FLOAT32[").contains("INT64["));
  }

  private static <T extends TType> Exchanged<T> sent(
      RankGraphs.Rank r, Operand<T> input, String name, long... splits) {
    return r.weft().alltoall(input, r.tf().constant(splits), name);
  }
}
