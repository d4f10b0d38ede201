// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.tensor.DType.FLOAT32;
import static io.weft.tensor.DType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.RankGraphs.Rank;
import io.weft.tensorflow.RankGraphs.Value;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.tensorflow.Operand;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.family.TNumber;

class IndexedSlicesTest {

  private static final int ROWS = 6;

  @ParameterizedTest
  @EnumSource(names = {"FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64", "INT32", "INT64"})
  void slicesOfAllRanksAreAdded(DType type) {
    List<List<Value>> ranks =
        RankGraphs.run(
            2, r -> List.of(dense(r, r.weft().allreduce(slices(r, type), "s", ReduceOp.SUM))));
    // Rank r has row r twice and row 2 once, all with the value r + 1.
    assertThat(ranks)
        .allSatisfy(
            v ->
                assertThat(v.get(0).elements())
                    .containsExactly(2, 2, 4, 4, 3, 3, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void slicesOfAllRanksAreAveraged() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> List.of(dense(r, r.weft().allreduce(slices(r, FLOAT64), "s", ReduceOp.AVERAGE))));
    assertThat(ranks)
        .allSatisfy(
            v ->
                assertThat(v.get(0).elements())
                    .containsExactly(1, 1, 2, 2, 1.5, 1.5, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void duplicateRowsAreSentOnce() {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              IndexedSlices<TFloat32> sum =
                  r.weft().allreduce(slices(r, FLOAT32), "s", ReduceOp.SUM);
              return List.of(sum.values(), sum.indices());
            });
    assertThat(ranks)
        .allSatisfy(
            v -> {
              assertThat(v.get(1).elements()).containsExactly(0, 2, 1, 2);
              assertThat(v.get(0).elements()).containsExactly(2, 2, 1, 1, 4, 4, 2, 2);
            });
  }

  @ParameterizedTest
  @EnumSource(names = {"SUM", "AVERAGE"})
  void groupsOfSlicesAndOfDenseTensorsWorkTogether(ReduceOp op) {
    List<List<Value>> ranks =
        RankGraphs.run(
            2,
            r -> {
              List<Operand<?>> all = new ArrayList<>();
              List<IndexedSlices<TFloat32>> two = List.of(slices(r, FLOAT32), slices(r, FLOAT32));
              r.weft()
                  .groupedAllreduceSlices(two, "sparse", op)
                  .forEach(sum -> all.add(dense(r, sum)));
              all.addAll(r.weft().groupedAllreduce(List.of(r.filled(FLOAT32, 2, 3)), "dense", op));
              return all;
            });
    double factor = op == ReduceOp.SUM ? 1 : 0.5;
    assertThat(ranks)
        .allSatisfy(
            v -> {
              assertThat(v.get(0).elements()).startsWith(2 * factor, 2 * factor, 4 * factor);
              assertThat(v.get(1).elements()).isEqualTo(v.get(0).elements());
              assertThat(v.get(2).elements()).containsOnly(4 * factor);
            });
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"SUM", "AVERAGE"})
  void unsupportedReductionsAreRefusedOnAllRanks(ReduceOp op) {
    List<String> messages =
        RankGraphs.failures(
            2, r -> List.of(r.weft().allreduce(slices(r, FLOAT32), "s", op).values()));
    assertThat(messages).allSatisfy(m -> assertThat(m).contains("'s'").contains(op.name()));
  }

  private static <T extends TNumber> IndexedSlices<T> slices(Rank r, DType type) {
    return new IndexedSlices<>(
        r.filled(type, r.number() + 1, 3, 2),
        r.tf().constant(new long[] {r.number(), 2, r.number()}));
  }

  private static <T extends TNumber> Operand<T> dense(Rank r, IndexedSlices<T> slices) {
    return r.tf().math.unsortedSegmentSum(slices.values(), slices.indices(), r.tf().constant(ROWS));
  }
}
