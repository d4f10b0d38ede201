// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.TableSpec;
import io.weft.property.Property;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ValueTableTest {

  private static final int MOST = 40_000;

  private final MemoryBudget budget = new MemoryBudget(64 << 20);

  private ValueTable table(String rule) {
    return new ValueTable(
        TableSpec.values("v", MOST).withRule(rule).withInitial("uniform", 7), budget);
  }

  private static float[] read(ValueTable table, long key, int length) {
    float[] into = new float[length];
    table.read(key, length, MemorySegment.ofArray(into), 0);
    return into;
  }

  private static float[] random(Random random, int length) {
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = random.nextFloat() - 0.5f;
    }
    return values;
  }

  private static int length(long key) {
    return key % 13 == 0 ? 30_000 : 1 + (int) Math.floorMod(key * 31, 300L);
  }

  private static long key(int number) {
    return number * 0x9e3779b97f4a7c15L;
  }

  private static final class Taken {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    void row(MemorySegment memory, long at, int count) {
      bytes.writeBytes(memory.asSlice(at, count).toArray(JAVA_BYTE));
    }

    MemorySegment all() {
      return MemorySegment.ofArray(bytes.toByteArray());
    }
  }

  /// Each value equals a separate tensor. A snapshot contains the state at its start, and the
  /// exported values continue in another table like the originals.
  @Test
  void aTableAndItsSnapshotsAgreeWithAModel() {
    Property.check(12, draw -> aTableAndItsSnapshotsAgreeWithAModel(draw.seed()));
  }

  private void aTableAndItsSnapshotsAgreeWithAModel(long seed) {
    var random = new Random(seed);
    Map<Long, TensorPart> model = new HashMap<>();
    var before = new Taken();
    var later = new Taken();
    try (ValueTable table = table("adam:lr=0.1");
        ValueTable other = table("adam:lr=0.1")) {
      TableSnapshot snapshot = null;
      Map<Long, float[]> then = new HashMap<>();
      for (int step = 1; step <= 300; step++) {
        long key = key(random.nextInt(90));
        int length = length(key);
        if (step == 150) {
          model.forEach((each, part) -> then.put(each, read(part)));
          snapshot = table.snapshot(0, before::row);
        }
        if (snapshot != null && random.nextInt(4) == 0) {
          boolean unused = snapshot.advance(3);
        }
        float[] gradient = random(random, length);
        table.reserve(key, length);
        TensorPart part = model.get(key);
        if (part == null) {
          assertThat(table.length(key)).isZero();
          part = new TensorPart("m", length, UpdateRules.parse("adam:lr=0.1"), budget);
          part.assign(0, length, MemorySegment.ofArray(read(table, key, length)), 0);
          model.put(key, part);
        }
        table.update(key, MemorySegment.ofArray(gradient), 0, step);
        part.update(0, length, MemorySegment.ofArray(gradient), 0, step);
        assertThat(read(table, key, length)).isEqualTo(read(part));
        assertThat(table.length(key)).isEqualTo(length);
      }
      assertThat(table.statistics().rows()).isEqualTo(model.size());
      while (!snapshot.advance(5)) {
        assertThat(table.statistics().rows()).isPositive();
      }
      snapshot.close();
      other.load(0, 0, before.all());
      assertThat(other.statistics().rows()).isEqualTo(then.size());
      then.forEach((key, values) -> assertThat(read(other, key, values.length)).isEqualTo(values));
      try (TableSnapshot changed = table.snapshot(150, later::row)) {
        assertThat(changed.advance(Integer.MAX_VALUE)).isTrue();
      }
      other.load(0, 0, later.all()); // the later changes overwrite the earlier state
      for (Map.Entry<Long, TensorPart> each : model.entrySet()) {
        long key = each.getKey();
        float[] gradient = random(random, length(key));
        other.update(key, MemorySegment.ofArray(gradient), 0, 301);
        each.getValue().update(0, gradient.length, MemorySegment.ofArray(gradient), 0, 301);
        assertThat(read(other, key, gradient.length)).isEqualTo(read(each.getValue()));
      }
    }
    model.values().forEach(TensorPart::close);
    assertThat(budget.usedBytes()).isZero();
  }

  private static float[] read(TensorPart part) {
    float[] values = new float[(int) part.elements()];
    part.read(0, values.length, MemorySegment.ofArray(values), 0);
    return values;
  }

  @Test
  void aKeyKeepsItsFirstLength() {
    try (ValueTable table = table("sum")) {
      table.reserve(5, 3);
      assertThat(table.length(5)).isZero();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.reserve(5, 4))
          .withMessageContaining("key 5 has a value of 3 floats, not 4");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.read(5, 2, MemorySegment.ofArray(new float[2]), 0))
          .withMessageContaining("not 2");
      for (int length : new int[] {0, -1, MOST + 1}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> table.reserve(6, length))
            .withMessageContaining("values of 1 to 40000");
      }
      float[] initial = read(table, 5, 3);
      table.update(5, MemorySegment.ofArray(new float[3]), 0, 1);
      assertThat(read(table, 5, 3)).isEqualTo(initial);
    }
  }

  @Test
  void malformedExportsAreRefusedAndChangeNothing() {
    try (ValueTable table = table("momentum");
        ValueTable other = table("sum")) {
      table.reserve(5, 3);
      table.update(5, MemorySegment.ofArray(new float[] {1, 2, 3}), 0, 1);
      var taken = new Taken();
      try (TableSnapshot snapshot = table.snapshot(0, taken::row)) {
        assertThat(snapshot.advance(10)).isTrue();
      }
      byte[] bytes = taken.all().toArray(JAVA_BYTE);
      assertThat(bytes).hasSize((int) ValueTable.exportedBytes(3, 1));
      for (int end = 1; end < bytes.length; end++) {
        MemorySegment torn = MemorySegment.ofArray(Arrays.copyOf(bytes, end));
        assertThatIllegalArgumentException()
            .as("torn at %d", end)
            .isThrownBy(() -> table.load(0, 0, torn));
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> other.load(0, 0, MemorySegment.ofArray(bytes)));
      assertThat(other.statistics().rows()).isZero();
    }
  }

  @Test
  void rowRulesAndValuesBeyondTheBudgetAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> table("rowwise-adagrad"))
        .withMessageContaining("needs rows");
    var small = new MemoryBudget(1000);
    try (var table = new ValueTable(TableSpec.values("v", MOST), small)) {
      table.reserve(1, 1000);
      assertThatThrownBy(() -> table.update(1, MemorySegment.ofArray(new float[1000]), 0, 1))
          .isInstanceOf(MemoryBudgetException.class)
          .hasMessageContaining("table 'v' needs");
      assertThat(table.length(1)).isZero();
    }
    assertThat(small.usedBytes()).isZero();
  }

  @Test
  void manyKeysAreFound() {
    try (ValueTable table = table("sum")) {
      for (int i = 0; i < 20_000; i++) {
        table.reserve(key(i), 1 + i % 3);
        table.update(key(i), MemorySegment.ofArray(new float[] {i, i, i}), 0, 1);
      }
      for (int i = 0; i < 20_000; i++) {
        assertThat(table.length(key(i))).isEqualTo(1 + i % 3);
      }
      assertThat(table.length(1)).isZero();
    }
  }
}
