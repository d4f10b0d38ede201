// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class SparseReducerTest {

  private record Given(long[] ids, float[] rows) {}

  /// Returns random rows with duplicate ids, or no rows for a third of the seeds.
  private static Given random(int seed, int table, int width, int most) {
    var random = new Random(seed);
    int count = seed % 3 == 1 ? 0 : random.nextInt(most + 1);
    long[] ids = random.longs(count, 0, table).toArray();
    float[] rows = new float[count * width];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = (float) random.nextGaussian();
    }
    return new Given(ids, rows);
  }

  private static SparseGradient slices(Arena arena, Given given, int width) {
    long count = given.ids().length;
    var ids = arena.allocate(Math.max(1, count) * 8, 64).asSlice(0, count * 8);
    var rows = arena.allocate(Math.max(1, count * width) * 4, 64).asSlice(0, count * width * 4);
    for (int i = 0; i < count; i++) {
      ids.setAtIndex(JAVA_LONG, i, given.ids()[i]);
    }
    for (int i = 0; i < given.rows().length; i++) {
      rows.setAtIndex(JAVA_FLOAT, i, given.rows()[i]);
    }
    return new SparseGradient(
        new TensorView(DType.INT64, Shape.of(count), ids),
        new TensorView(DType.FLOAT32, Shape.of(count, width), rows));
  }

  /// Adds the rows of each id in their order.
  private static Map<Long, float[]> sums(Given given, int width) {
    Map<Long, float[]> sums = new TreeMap<>();
    for (int i = 0; i < given.ids().length; i++) {
      float[] row = Arrays.copyOfRange(given.rows(), i * width, (i + 1) * width);
      sums.merge(given.ids()[i], row, SparseReducerTest::plus);
    }
    return sums;
  }

  private static float[] plus(float[] some, float[] others) {
    float[] sum = some.clone();
    for (int i = 0; i < sum.length; i++) {
      sum[i] += others[i];
    }
    return sum;
  }

  private static Map<Long, float[]> read(ReducedSlices result) {
    Map<Long, float[]> rows = new LinkedHashMap<>();
    switch (result) {
      case ReducedSlices.Sparse sparse -> {
        TensorView all = sparse.rows().view();
        for (long id : sparse.ids().view().data().toArray(JAVA_LONG)) {
          rows.put(id, all.rows(rows.size(), 1).data().toArray(JAVA_FLOAT));
        }
      }
      case ReducedSlices.Dense dense -> {
        TensorView table = dense.table().view();
        for (long id = 0; id < table.shape().dims().getFirst(); id++) {
          rows.put(id, table.rows(id, 1).data().toArray(JAVA_FLOAT));
        }
      }
    }
    return rows;
  }

  @ParameterizedTest
  @CsvSource({"2, 1, 1, inproc", "3, 5, 40, inproc", "4, 3, 200, inproc", "3, 4, 100, tcp"})
  void rowsAreAddedPerRankAndThenInTheOrderOfRanks(int ranks, int width, int most, String how) {
    int table = 50;
    try (LocalJob job = LocalJob.over(how, ranks)) {
      for (int round = 0; round < 6; round++) {
        List<Given> given = new ArrayList<>();
        Map<Long, float[]> expected = new TreeMap<>();
        for (int rank = 0; rank < ranks; rank++) {
          given.add(random(10 * round + rank, table, width, most));
          sums(given.get(rank), width)
              .forEach((id, row) -> expected.merge(id, row, SparseReducerTest::plus));
        }
        List<Map<Long, float[]>> results =
            job.run(
                weft -> {
                  var reducer = new SparseReducer(weft.communicator(), Double.MAX_VALUE);
                  try (Arena arena = Arena.ofShared();
                      ReducedSlices result =
                          reducer
                              .reduce(
                                  "table",
                                  slices(arena, given.get(weft.rank()), width),
                                  table,
                                  ReduceOp.SUM)
                              .await()) {
                    assertThat(result).isInstanceOf(ReducedSlices.Sparse.class);
                    return read(result);
                  }
                });
        for (Map<Long, float[]> result : results) {
          assertThat(List.copyOf(result.keySet())).isEqualTo(List.copyOf(expected.keySet()));
          expected.forEach((id, row) -> assertThat(result.get(id)).isEqualTo(row));
        }
      }
    }
  }

  @Test
  void manyRowsBecomeATableWithZerosForMissingRows() {
    int table = 10;
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      List<Map<Long, float[]>> results =
          job.run(
              weft -> {
                var reducer = new SparseReducer(weft.communicator(), 0.5);
                long[] ids = weft.rank() == 0 ? new long[] {7, 1, 7} : new long[] {0, 1, 2, 9};
                float[] rows = new float[ids.length * 2];
                Arrays.fill(rows, weft.rank() + 1);
                try (Arena arena = Arena.ofShared();
                    ReducedSlices result =
                        reducer
                            .reduce(
                                "t",
                                slices(arena, new Given(ids, rows), 2),
                                table,
                                ReduceOp.AVERAGE)
                            .await()) {
                  assertThat(result).isInstanceOf(ReducedSlices.Dense.class);
                  return read(result);
                }
              });
      for (Map<Long, float[]> result : results) {
        float[] first = new float[table];
        result.forEach((id, row) -> first[id.intValue()] = row[1]);
        assertThat(first).containsExactly(1, 1.5f, 1, 0, 0, 0, 0, 1, 0, 1);
      }
    }
  }

  @Test
  void theMeanCountsARankWithoutTheRowAsZeros() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            var given =
                weft.rank() == 0
                    ? new Given(new long[] {1L << 40}, new float[] {6})
                    : new Given(new long[0], new float[0]);
            var reducer = new SparseReducer(weft.communicator(), 0.5);
            try (Arena arena = Arena.ofShared();
                ReducedSlices result =
                    reducer
                        .reduce("t", slices(arena, given, 1), 1L << 41, ReduceOp.AVERAGE)
                        .await()) {
              assertThat(read(result)).containsOnlyKeys(1L << 40);
              assertThat(read(result).get(1L << 40)).containsExactly(3);
            }
            return true;
          });
    }
  }

  @Test
  void anIdOutsideTheTableFailsOnAllRanksAndTheCommunicatorContinues() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      job.run(
          weft -> {
            var reducer = new SparseReducer(weft.communicator(), 0.5);
            for (long wrong : new long[] {-1, 100}) {
              long[] ids = {3, weft.rank() == 1 ? wrong : 4};
              try (Arena arena = Arena.ofShared()) {
                SparseGradient slices = slices(arena, new Given(ids, new float[2]), 1);
                assertThatThrownBy(() -> reducer.reduce("t", slices, 100, ReduceOp.SUM).await())
                    .isInstanceOf(CommException.Broken.class)
                    .hasMessageContaining(
                        "rank 1: sparse gradient 't' has the id " + wrong + " at place 1")
                    .hasMessageContaining("0 to 99");
              }
            }
            return true;
          });
    }
  }

  @Test
  void differentTablesFailOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            var reducer = new SparseReducer(weft.communicator(), 0.5);
            try (Arena arena = Arena.ofShared()) {
              var slices = slices(arena, new Given(new long[] {1}, new float[] {1}), 1);
              assertThatThrownBy(
                      () -> reducer.reduce("t", slices, 10 + weft.rank(), ReduceOp.SUM).await())
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("10 rows of 1 elements, by SUM")
                  .hasMessageContaining("11 rows of 1 elements, by SUM");
            }
            return true;
          });
    }
  }

  @Test
  void differentDensitiesFailOnAllRanksAndTheCommunicatorContinues() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            var other = new SparseReducer(weft.communicator(), 0.25 * (1 + weft.rank()));
            var equal = new SparseReducer(weft.communicator(), 0.5);
            try (Arena arena = Arena.ofShared()) {
              var slices = slices(arena, new Given(new long[] {1}, new float[] {1}), 1);
              assertThatThrownBy(() -> other.reduce("t", slices, 10, ReduceOp.SUM).await())
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContainingAll("0.25", "0.5");
              try (ReducedSlices sum = equal.reduce("t", slices, 10, ReduceOp.SUM).await()) {
                assertThat(read(sum)).containsOnlyKeys(1L);
              }
            }
            return true;
          });
    }
  }

  @Test
  void otherTensorsAndOperationsAreRefused() {
    try (LocalJob job = LocalJob.over("inproc", 1);
        Arena arena = Arena.ofShared()) {
      var good = slices(arena, new Given(new long[] {1}, new float[] {1}), 1);
      assertThatThrownBy(() -> new SparseGradient(good.rows(), good.rows()))
          .hasMessageContaining("ids of rows are INT64[k], got FLOAT32[1, 1]");
      assertThatThrownBy(() -> new SparseGradient(good.ids(), good.ids()))
          .hasMessageContaining(
              "rows of INT64[1] must be FLOAT32, one row for each id, got INT64[1]");
      var communicator = job.ranks().getFirst().communicator();
      var reducer = new SparseReducer(communicator, 0);
      assertThatThrownBy(() -> reducer.reduce("t", good, 9, ReduceOp.MAX))
          .hasMessageContaining("SUM or AVERAGE, not MAX");
      assertThatThrownBy(() -> reducer.reduce("t", good, 0, ReduceOp.SUM))
          .hasMessageContaining("a table of 0 rows");
      assertThatThrownBy(() -> new SparseReducer(communicator, Double.NaN))
          .hasMessageContaining("got NaN");
    }
  }
}
