// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.property.Property;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Checks that a table agrees with a `HashMap` in all observable state, under random operations.
class RowTableModelTest {

  private static final int BATCH = 300;

  /// A row of the model for a rule that adds: its values and the step of its last use.
  private static final class Row {
    private final float[] values;
    private long step;

    private Row(float[] values, long step) {
      this.values = values;
      this.step = step;
    }
  }

  private static final class Run implements AutoCloseable {
    private final Random random;
    private final int width;
    private final int spread;
    private final MemoryBudget budget = new MemoryBudget(1L << 30);
    private RowTable table;
    private final Map<Long, Row> model = new HashMap<>();
    private final RowList kept = new RowList();
    private long step;

    private Run(long seed, int width, int spread) {
      random = new Random(seed);
      this.width = width;
      this.spread = spread;
      table = empty();
      kept.set(keys(50), 50);
    }

    private RowTable empty() {
      return new RowTable(RowTableTest.spec(width, "sum", "constant:value=1"), budget);
    }

    private long[] keys(int count) {
      long[] keys = new long[count];
      for (int i = 0; i < count; i++) {
        long key = random.nextInt(spread);
        keys[i] =
            switch (random.nextInt(4)) {
              case 0 -> key;
              case 1 -> -key;
              case 2 -> key << 40;
              default -> Long.MAX_VALUE - key;
            };
      }
      return keys;
    }

    private void push(RowList list) {
      step++;
      float[] gradients = new float[list.count() * width];
      for (int i = 0; i < gradients.length; i++) {
        gradients[i] = random.nextInt(100);
      }
      table.resolve(list, Missing.CREATE, step);
      assertThat(list.missing()).isZero();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment native3 = arena.allocate(3 + gradients.length * 4L);
        MemorySegment.copy(MemorySegment.ofArray(gradients), 0, native3, 3, gradients.length * 4L);
        int half = list.count() / 2;
        table.update(list, 0, half, native3, 3, step);
        table.update(list, half, list.count() - half, native3, 3 + half * width * 4L, step);
      }
      for (int i = 0; i < list.count(); i++) {
        Row row = model.computeIfAbsent(list.key(i), key -> new Row(ones(), step));
        row.step = step;
        for (int j = 0; j < width; j++) {
          row.values[j] += gradients[i * width + j];
        }
      }
    }

    private float[] ones() {
      float[] ones = new float[width];
      Arrays.fill(ones, 1);
      return ones;
    }

    private void pull() {
      long[] keys = keys(BATCH);
      RowList list = RowTableTest.list(keys);
      float[] seen = RowTableTest.read(table, list, width);
      for (int i = 0; i < keys.length; i++) {
        Row row = model.get(keys[i]);
        assertThat(Arrays.copyOfRange(seen, i * width, (i + 1) * width))
            .as("key %d", keys[i])
            .isEqualTo(row == null ? ones() : row.values);
        assertThat(list.hasRow(i)).isEqualTo(row != null);
      }
    }

    private void evict() {
      long since = step - 1 - random.nextInt(4);
      double norm = random.nextBoolean() ? 0 : 40 + random.nextInt(100);
      int before = model.size();
      model.values().removeIf(row -> row.step < since || (norm > 0 && l2(row.values) < norm));
      assertThat(RowTableTest.evictAll(table, new Eviction(since, norm)))
          .isEqualTo(before - model.size());
    }

    private static double l2(float[] values) {
      double sum = 0;
      for (float value : values) {
        sum += (double) value * value;
      }
      return Math.sqrt(sum);
    }

    private void remove() {
      for (long key : keys(BATCH / 4)) {
        assertThat(table.remove(key)).isEqualTo(model.remove(key) != null);
      }
    }

    /// Moves all rows to a new table, a few rows at a time.
    private void move() {
      int rows = 1 + random.nextInt(40);
      RowTable other = empty();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment buffer = arena.allocate(5 + (table.rows() + 1) * table.rowBytes());
        int count = RowTableTest.export(table, 0, buffer, 5);
        for (int first = 0; first < count; first += rows) {
          long at = 5 + (long) first * table.rowBytes();
          other.importRows(buffer, at, Math.min(rows, count - first));
        }
      }
      table.close();
      table = other;
    }

    /// Copies the table, pushes, and imports the rows that were used since then into the copy.
    private void catchUp() {
      RowTable behind = empty();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment buffer = arena.allocate((table.rows() + 1) * table.rowBytes());
        behind.importRows(buffer, 0, RowTableTest.export(table, 0, buffer, 0));
        long since = step + 1;
        push(RowTableTest.list(keys(BATCH)));
        buffer = arena.allocate((table.rows() + 1) * table.rowBytes());
        int changes = RowTableTest.export(table, since, buffer, 0);
        assertThat(changes)
            .isEqualTo((int) model.values().stream().filter(row -> row.step >= since).count());
        behind.importRows(buffer, 0, changes);
      }
      table.close();
      table = behind;
    }

    private void compareAll() {
      Map<Long, List<Object>> seen = new HashMap<>();
      table.forEachRow(
          (key, last, values) ->
              assertThat(seen.put(key, List.of(last, Arrays.hashCode(values.toArray(JAVA_FLOAT)))))
                  .isNull());
      Map<Long, List<Object>> expected = new HashMap<>();
      model.forEach(
          (key, row) -> expected.put(key, List.of(row.step, Arrays.hashCode(row.values))));
      assertThat(seen).isEqualTo(expected);
      assertThat(table.rows()).isEqualTo(model.size());
      assertThat(table.statistics().bytes()).isEqualTo(budget.usedBytes());
    }

    @Override
    public void close() {
      table.close();
      assertThat(budget.usedBytes()).isZero();
    }
  }

  @Test
  void tableMatchesAMap() {
    Property.check(
        60, draw -> tableMatchesAMap(draw.seed(), draw.between(1, 40), draw.between(20, 20_000)));
  }

  private void tableMatchesAMap(long seed, int width, int spread) {
    try (var run = new Run(seed, width, spread)) {
      for (int i = 0; i < 40; i++) {
        switch (run.random.nextInt(10)) {
          case 0 -> run.evict();
          case 1 -> run.remove();
          case 2 -> run.move();
          case 3 -> run.catchUp();
          case 4 -> run.push(run.kept);
          case 5, 6 -> run.pull();
          default -> run.push(RowTableTest.list(run.keys(BATCH)));
        }
      }
      run.compareAll();
    }
  }
}
