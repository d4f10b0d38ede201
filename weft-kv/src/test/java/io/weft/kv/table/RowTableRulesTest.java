// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.rule.UpdateTile;
import io.weft.kv.table.RowTableSpec.RowOptions;
import io.weft.property.Property;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that each rule changes the rows of a table like separate rows, and bounds their memory.
class RowTableRulesTest {

  private static final String[] RULES = {
    "sum", "assign", "sgd", "momentum", "adagrad", "rowwise-adagrad", "adam", "ftrl"
  };

  private final MemoryBudget budget = new MemoryBudget(4L << 30);

  private RowTable table(UpdateRule rule, int width, String initial) {
    var values = InitialValues.parse(initial, width);
    return new RowTable(new RowTableSpec("t", width, rule, values, RowOptions.DEFAULT), budget);
  }

  private static UpdateTile fresh(UpdateRule rule, int width) {
    var tile = new UpdateTile(rule, width);
    Arrays.fill(tile.values(), 1);
    for (int slot = 0; slot < rule.slots(); slot++) {
      Arrays.fill(tile.slot(slot), rule.initialSlot(slot));
    }
    for (int slot = 0; slot < rule.rowSlots(); slot++) {
      tile.rowSlot(slot)[0] = rule.initialSlot(rule.slots() + slot);
    }
    return tile;
  }

  /// Returns unordered keys, ascending keys with gaps, or consecutive keys.
  private static long[] keys(Random random) {
    int count = 1 + random.nextInt(3000);
    return switch (random.nextInt(3)) {
      case 0 -> random.longs(count, 0, 2000).toArray();
      case 1 -> random.longs(count, 0, 4000).distinct().sorted().toArray();
      default -> {
        int first = random.nextInt(1000);
        yield LongStream.range(first, first + count).toArray();
      }
    };
  }

  @Test
  void rowsChangeLikeSeparateRows() {
    Property.check(
        120,
        draw -> rowsChangeLikeSeparateRows(draw.between(0, 7), draw.between(1, 12), draw.seed()));
  }

  private void rowsChangeLikeSeparateRows(int which, int width, long seed) {
    UpdateRule rule = UpdateRules.parse(RULES[which]);
    var random = new Random(seed);
    Map<Long, UpdateTile> model = new HashMap<>();
    try (RowTable table = table(rule, width, "constant:value=1")) {
      for (int step = 1; step <= 4; step++) {
        RowList list = RowTableTest.list(keys(random));
        float[] gradients = new float[list.count() * width];
        for (int i = 0; i < gradients.length; i++) {
          gradients[i] = random.nextFloat() - 0.5f;
        }
        RowTableTest.push(table, list, step, gradients);
        for (int i = 0; i < list.count(); i++) {
          UpdateTile row = model.computeIfAbsent(list.key(i), key -> fresh(rule, width));
          System.arraycopy(gradients, i * width, row.gradient(), 0, width);
          rule.apply(row, 1, width, rule.rate(step));
        }
      }
      Map<Long, float[]> seen = new LinkedHashMap<>();
      table.forEachRow((key, last, floats) -> seen.put(key, floats.toArray(JAVA_FLOAT)));
      assertThat(seen.keySet()).isEqualTo(model.keySet());
      model.forEach(
          (key, row) ->
              assertThat(seen.get(key))
                  .as("%s of width %d, key %d", RULES[which], width, key)
                  .isEqualTo(floats(rule, row)));
    }
  }

  private static float[] floats(UpdateRule rule, UpdateTile row) {
    int width = row.elements();
    float[] all = Arrays.copyOf(row.values(), width * (1 + rule.slots()) + rule.rowSlots());
    for (int slot = 0; slot < rule.slots(); slot++) {
      System.arraycopy(row.slot(slot), 0, all, (1 + slot) * width, width);
    }
    for (int slot = 0; slot < rule.rowSlots(); slot++) {
      all[width * (1 + rule.slots()) + slot] = row.rowSlot(slot)[0];
    }
    return all;
  }

  /// A row of 16 values takes at most 1.5 times its 64 bytes, and its slots.
  @ParameterizedTest
  @CsvSource({"sum, 96", "rowwise-adagrad, 100", "adagrad, 160", "adam, 224"})
  void rowsTakeLittleMoreThanTheirPayload(String rule, double most) {
    assertThat(bytesPerRow(rule, 400_000)).isLessThan(most);
  }

  @Test
  @Tag("long")
  void tenMillionRowsTakeLittleMoreThanTheirPayload() {
    assertThat(bytesPerRow("sum", 10_000_000)).isLessThan(96);
  }

  private double bytesPerRow(String rule, int rows) {
    try (RowTable table = table(UpdateRules.parse(rule), 16, "uniform")) {
      long[] keys = new long[1000];
      for (int first = 0; first < rows; first += keys.length) {
        for (int i = 0; i < keys.length; i++) {
          keys[i] = first + i;
        }
        table.resolve(RowTableTest.list(keys), Missing.CREATE, 1);
      }
      assertThat(table.rows()).isEqualTo(rows);
      assertThat(table.statistics().bytes()).isEqualTo(budget.usedBytes());
      return table.statistics().bytesPerRow();
    }
  }

  @Test
  void malformedRowsAreRefusedAndChangeNothing() {
    UpdateRule rule = UpdateRules.parse("sum");
    try (RowTable table = table(rule, 4, "zero")) {
      RowTableTest.push(table, RowTableTest.list(1, 2), 1, 1, 1, 1, 1, 2, 2, 2, 2);
      byte[] exported = new byte[2 * table.rowBytes()];
      MemorySegment memory = MemorySegment.ofArray(exported);
      assertThat(RowTableTest.export(table, 0, memory, 0)).isEqualTo(2);
      exported[table.rowBytes() + 12] = 7; // in the marker of the second row
      try (RowTable other = table(rule, 4, "zero")) {
        assertThatThrownBy(() -> other.importRows(memory, 0, 2))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("the bytes of row 1 of 2, of 32 bytes, are not a row");
        assertThatThrownBy(() -> other.importRows(memory, 0, 3))
            .hasMessageContaining("3 rows are 96 bytes, but there are 64");
        assertThat(other.rows()).isZero();
      }
    }
  }
}
