// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.table.RowTableSpec.RowOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowTableTest {

  private static final long[] KEYS = {
    0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 24, (1L << 24) + 1, 1L << 31, -(1L << 31), 1L << 32
  };

  private final MemoryBudget budget = new MemoryBudget(1L << 30);

  static RowTableSpec spec(int width, String rule, String initial) {
    return new RowTableSpec(
        "users",
        width,
        UpdateRules.parse(rule),
        InitialValues.parse(initial, width),
        RowOptions.DEFAULT);
  }

  static RowList list(long... keys) {
    var list = new RowList();
    list.set(keys, keys.length);
    return list;
  }

  static float[] read(RowTable table, RowList list, int width) {
    table.resolve(list, Missing.LEAVE, 0);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = arena.allocate((long) list.count() * width * 4 + 4);
      table.read(list, 0, list.count(), into, 4);
      return into.asSlice(4).toArray(JAVA_FLOAT);
    }
  }

  static void push(RowTable table, RowList list, long step, float... gradients) {
    table.resolve(list, Missing.CREATE, step);
    table.update(list, 0, list.count(), MemorySegment.ofArray(gradients), 0, step);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 16, 64, 1500})
  void everyKeyHasItsOwnRow(int width) {
    try (var table = new RowTable(spec(width, "sum", "zero"), budget)) {
      float[] gradients = new float[KEYS.length * width];
      for (int i = 0; i < gradients.length; i++) {
        gradients[i] = i + 1;
      }
      push(table, list(KEYS), 1, gradients);
      assertThat(table.rows()).isEqualTo(KEYS.length);
      assertThat(read(table, list(KEYS), width)).isEqualTo(gradients);
    }
  }

  @Test
  void aRepeatedKeyIsUpdatedTwiceInOrder() {
    try (var table = new RowTable(spec(1, "momentum:lr=1,momentum=0.5", "zero"), budget)) {
      push(table, list(7, 8, 7), 1, 1, 1, 1);
      assertThat(table.rows()).isEqualTo(2);
      assertThat(read(table, list(7, 8), 1)).containsExactly(-2.5f, -1);
    }
  }

  @Test
  void aRowReadsTheSameBeforeAndAfterItIsMade() {
    try (var table = new RowTable(spec(5, "adagrad", "normal"), budget)) {
      float[] before = read(table, list(KEYS), 5);
      assertThat(table.rows()).isZero();
      table.resolve(list(KEYS), Missing.CREATE, 1);
      assertThat(table.rows()).isEqualTo(KEYS.length);
      assertThat(read(table, list(KEYS), 5)).isEqualTo(before).doesNotContain(0);
    }
  }

  @Test
  void absentKeysAreSearchedAgainOnlyAfterARowWasCreated() {
    try (var table = new RowTable(spec(1, "sum", "zero"), budget)) {
      push(table, list(1), 1, 4);
      RowList kept = list(1, 2).copy();
      assertThat(read(table, kept, 1)).containsExactly(4, 0);
      long lookups = table.statistics().lookups();
      assertThat(read(table, kept, 1)).containsExactly(4, 0);
      assertThat(table.statistics().lookups()).isEqualTo(lookups);

      push(table, list(2), 2, 3);
      assertThat(read(table, kept, 1)).containsExactly(4, 3);
      assertThat(kept.missing()).isZero();
      push(table, list(2, 5).copy(), 3, 1, 1);
      assertThat(read(table, kept, 1)).containsExactly(4, 4);
    }
  }

  @Test
  void aResolvedListStaysValidWhenRowsAreAddedButNotWhenOneIsRemoved() {
    try (var table = new RowTable(spec(1, "sum", "zero"), budget)) {
      RowList kept = list(KEYS).copy();
      table.resolve(kept, Missing.CREATE, 1);
      long version = table.version();
      for (int i = 0; i < 200_000; i += 1000) {
        long[] more = new long[1000];
        for (int j = 0; j < more.length; j++) {
          more[j] = 1_000_000 + i + j;
        }
        table.resolve(list(more), Missing.CREATE, 1);
      }
      assertThat(table.version()).isEqualTo(version);
      table.update(kept, 0, 1, MemorySegment.ofArray(new float[] {5}), 0, 2); // key 0 at its place
      assertThat(read(table, list(0), 1)).containsExactly(5);
      assertThat(table.remove(-1)).isTrue();
      assertThat(table.remove(-1)).isFalse();
      assertThat(table.version()).isNotEqualTo(version);
      MemorySegment into = MemorySegment.ofArray(new float[KEYS.length]);
      assertThatThrownBy(() -> table.read(kept, 0, 1, into, 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("table 'users'")
          .hasMessageContaining("resolve");
      table.resolve(kept, Missing.LEAVE, 2);
      assertThat(kept.missing()).isOne();
      assertThat(kept.hasRow(1)).isFalse();
      assertThat(kept.hasRow(0)).isTrue();
    }
  }

  @Test
  void aKeyGetsARowAfterEnoughPushes() {
    var spec = spec(2, "sum", "constant:value=1");
    var patient =
        new RowTableSpec(
            "users", 2, spec.rule(), spec.initial(), RowOptions.DEFAULT.withAdmission(3));
    try (var table = new RowTable(patient, budget)) {
      for (int use = 1; use <= 2; use++) {
        push(table, list(42), use, 10, 10);
        assertThat(table.rows()).isZero();
        assertThat(read(table, list(42), 2)).containsExactly(1, 1);
      }
      push(table, list(42), 3, 10, 10);
      assertThat(table.rows()).isOne();
      assertThat(read(table, list(42), 2)).containsExactly(11, 11);
      assertThat(table.statistics().declined()).isEqualTo(2);
    }
  }

  @Test
  void rowsAreEvictedByAgeAndNormAndTheirMemoryIsReused() {
    int width = 1024; // 32 rows a chunk
    try (var table = new RowTable(spec(width, "assign", "zero"), budget)) {
      for (int step = 1; step <= 100; step++) {
        float[] row = new float[width];
        row[step] = step;
        push(table, list(step), step, row);
      }
      long bytes = table.statistics().bytes();
      assertThat(evictAll(table, Eviction.byAge(41))).isEqualTo(40);
      assertThat(evictAll(table, Eviction.byNorm(60.5))).isEqualTo(20);
      assertThat(table.rows()).isEqualTo(40);
      float[] two = read(table, list(60, 61), width);
      assertThat(two[60]).isZero();
      assertThat(two[width + 61]).isEqualTo(61);
      long[] others = new long[60];
      for (int i = 0; i < others.length; i++) {
        others[i] = -1 - i;
      }
      table.resolve(list(others), Missing.CREATE, 101);
      assertThat(table.rows()).isEqualTo(100);
      assertThat(read(table, list(-1), width)).containsOnly(0);
      assertThat(table.statistics().bytes()).isLessThan(bytes + 32 * table.rowBytes());
      assertThat(table.statistics().evicted()).isEqualTo(60);
    }
  }

  /// Writes all rows that were used since a step to `into` and returns their count.
  static int export(RowTable table, long since, MemorySegment into, long offset) {
    long[] at = {offset};
    TableSink sink =
        (memory, from, bytes) -> {
          MemorySegment.copy(memory, from, into, at[0], bytes);
          at[0] += bytes;
        };
    try (TableSnapshot snapshot = table.snapshot(since, sink)) {
      boolean all = false;
      while (!all) {
        all = snapshot.advance(7);
      }
      return (int) ((at[0] - offset) / table.rowBytes());
    }
  }

  static int evictAll(RowTable table, Eviction which) {
    int gone = 0;
    long from = EvictionScan.START;
    while (from >= 0) {
      EvictionScan sweep = table.evict(from, 7, which, key -> {});
      gone += sweep.rows();
      from = sweep.next();
    }
    return gone;
  }

  @Test
  void rowsBeyondTheBudgetAreRefusedAndTheTableStaysUsable() {
    var small = new MemoryBudget(700_000);
    try (var table = new RowTable(spec(64, "adagrad", "zero"), small)) {
      List<Long> in = new ArrayList<>();
      assertThatThrownBy(
              () -> {
                for (long key = 0; ; key++) {
                  table.resolve(list(key), Missing.CREATE, 1);
                  in.add(key);
                }
              })
          .isInstanceOf(MemoryBudgetException.class)
          .hasMessageContaining("table 'users' needs")
          .hasMessageContaining("of the 700000 bytes")
          .hasMessageContaining("raise the memory budget");
      assertThat(small.usedBytes()).isLessThanOrEqualTo(700_000);
      assertThat(table.statistics().bytes()).isEqualTo(small.usedBytes());
      assertThat(table.rows()).isEqualTo(in.size()).isGreaterThan(500);
      push(table, list(in.getLast()), 2, new float[64]);
      assertThat(table.remove(in.getFirst())).isTrue();
      table.resolve(list(in.getFirst()), Missing.CREATE, 3);
      assertThat(table.rows()).isEqualTo(in.size());
    }
    assertThat(small.usedBytes()).isZero();
  }

  @Test
  void anotherThreadIsRefused() throws Exception {
    try (var table = new RowTable(spec(1, "sum", "zero"), budget)) {
      var outcome = CompletableFuture.supplyAsync(table::statistics);
      assertThatThrownBy(() -> outcome.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(WrongThreadException.class)
          .hasMessageContaining("table 'users' is of");
    }
  }

  @Test
  void wrongLengthsAndAClosedTableAreRefused() {
    var table = new RowTable(spec(3, "sum", "zero"), budget);
    RowList list = list(1, 2);
    table.resolve(list, Missing.CREATE, 1);
    MemorySegment five = MemorySegment.ofArray(new float[5]);
    assertThatThrownBy(() -> table.update(list, 0, 2, five, 0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("2 rows of 3 values are 24 bytes, but there are 20");
    assertThatThrownBy(() -> table.read(list, 1, 2, five, 0))
        .hasMessageContaining("places 1 and 2 more of a list of 2 keys");
    table.close();
    table.close();
    assertThatThrownBy(() -> table.read(list, 0, 1, five, 0)).hasMessageContaining("is closed");
    assertThat(budget.usedBytes()).isZero();
    assertThatThrownBy(() -> spec(0, "sum", "zero")).hasMessageContaining("a row of 0 values");
  }
}
