// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.tensor.DType.FLOAT32;
import static io.weft.tensor.DType.INT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensorflow.RankGraphs.Value;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Operand;
import org.tensorflow.types.TFloat32;

class BroadcastOpTest {

  @ParameterizedTest
  @EnumSource
  void everyElementTypeIsBroadcastFromEveryRootInOneToThreeDimensions(DType type) {
    for (int root = 0; root < 3; root++) {
      int from = root;
      List<List<Value>> ranks =
          RankGraphs.run(
              3,
              r ->
                  List.of(
                      r.weft().broadcast(r.filled(type, r.number() + 1, 3), "one", from),
                      r.weft().broadcast(r.filled(type, r.number() + 1, 2, 2), "two", from),
                      r.weft().broadcast(r.filled(type, r.number() + 1, 1, 2, 2), "x", from)));
      assertThat(ranks)
          .allSatisfy(
              values -> {
                assertThat(values.get(0).elements()).hasSize(3).containsOnly(from + 1);
                assertThat(values.get(1).elements()).hasSize(4).containsOnly(from + 1);
                assertThat(values.get(2).shape()).containsExactly(1L, 2L, 2L);
              });
    }
  }

  @Test
  void groupOfSeveralTypesIsBroadcastFromTheRoot() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r ->
                r.weft()
                    .groupedBroadcast(
                        List.of(r.filled(FLOAT32, r.number(), 2), r.filled(INT64, r.number(), 1)),
                        "group",
                        1));
    assertThat(ranks)
        .allSatisfy(
            values -> {
              assertThat(values.get(0).elements()).containsExactly(1, 1);
              assertThat(values.get(1).elements()).containsExactly(1);
            });
  }

  @Test
  void gradientIsTheSumOnTheRootAndZeroElsewhere() {
    List<List<Value>> ranks =
        RankGraphs.run(
            3,
            r -> {
              Operand<TFloat32> x = r.filled(FLOAT32, 5, 2, 2);
              return List.of(r.gradient(r.weft().broadcast(x, "x", 1), x, r.number() + 1));
            });
    assertThat(ranks.get(0).get(0).elements()).hasSize(4).containsOnly(0);
    assertThat(ranks.get(1).get(0).elements()).hasSize(4).containsOnly(6);
    assertThat(ranks.get(2).get(0).elements()).hasSize(4).containsOnly(0);
  }

  @Test
  void disagreementOnShapeTypeOrRootFailsAllRanks() {
    List<String> shapes =
        RankGraphs.failures(
            2, r -> List.of(r.weft().broadcast(r.filled(FLOAT32, 1, 2 + r.number()), "x", 0)));
    assertThat(shapes).allSatisfy(m -> assertThat(m).contains("FLOAT32[2]").contains("FLOAT32[3]"));
    List<String> types =
        RankGraphs.failures(
            2,
            r ->
                List.of(
                    r.weft().broadcast(r.filled(r.number() == 0 ? FLOAT32 : INT64, 1, 2), "x", 0)));
    assertThat(types).allSatisfy(m -> assertThat(m).contains("FLOAT32[2]").contains("INT64[2]"));
    List<String> roots =
        RankGraphs.failures(
            2, r -> List.of(r.weft().broadcast(r.filled(FLOAT32, 1, 2), "x", r.number())));
    assertThat(roots).allSatisfy(m -> assertThat(m).contains("from 0").contains("from 1"));
  }

  @Test
  void rootBeyondTheRanksIsRefusedOnAllRanks() {
    List<String> messages =
        RankGraphs.failures(2, r -> List.of(r.weft().broadcast(r.filled(FLOAT32, 1, 2), "x", 2)));
    assertThat(messages).allSatisfy(m -> assertThat(m).contains("root 2 is not a rank of 2"));
  }
}
