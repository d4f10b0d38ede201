// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.rule.UpdateTile;
import io.weft.property.Property;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorPartTest {

  private final MemoryBudget budget = new MemoryBudget(1 << 20);

  private static float[] read(TensorPart part) {
    float[] values = new float[(int) part.elements()];
    part.read(0, values.length, MemorySegment.ofArray(values), 0);
    return values;
  }

  /// Updates of any ranges equal the rule's update of the whole part.
  @Test
  void rangeUpdatesEqualTheWholeUpdate() {
    Property.check(40, draw -> rangeUpdatesEqualTheWholeUpdate(draw.seed(), draw.between(1, 9000)));
  }

  private void rangeUpdatesEqualTheWholeUpdate(long seed, int elements) {
    var random = new Random(seed);
    UpdateRule rule = UpdateRules.parse("adam:lr=0.1");
    var tile = new UpdateTile(rule, elements);
    try (var part = new TensorPart("w", elements, rule, budget)) {
      for (int i = 0; i < elements; i++) {
        tile.values()[i] = random.nextFloat();
      }
      part.assign(0, elements, MemorySegment.ofArray(tile.values()), 0);
      for (int step = 1; step <= 3; step++) {
        for (int i = 0; i < elements; i++) {
          tile.gradient()[i] = random.nextFloat() - 0.5f;
        }
        float[] gradient = tile.gradient().clone();
        rule.apply(tile, 1, elements, rule.rate(step));
        int cut = random.nextInt(elements + 1);
        part.update(0, cut, MemorySegment.ofArray(gradient), 0, step);
        part.update(cut, elements - cut, MemorySegment.ofArray(gradient), cut * 4L, step);
        assertThat(read(part)).isEqualTo(tile.values());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 4096, 100_000})
  void anExportedPartContinuesLikeTheOriginal(int bytesAtOnce) {
    UpdateRule rule = UpdateRules.parse("adagrad:lr=0.5,init=0.3");
    float[] gradient = new float[300];
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] = i - 150;
    }
    try (var part = new TensorPart("w", 300, rule, budget);
        var other = new TensorPart("w", 300, rule, budget)) {
      part.update(0, 300, MemorySegment.ofArray(gradient), 0, 1);
      byte[] buffer = new byte[bytesAtOnce];
      long at = 0;
      while (at < part.bytes()) {
        long count = part.export(at, MemorySegment.ofArray(buffer), 0);
        other.importBytes(at, MemorySegment.ofArray(buffer), 0, count);
        at += count;
      }
      part.update(0, 300, MemorySegment.ofArray(gradient), 0, 2);
      other.update(0, 300, MemorySegment.ofArray(gradient), 0, 2);
      assertThat(read(other)).isEqualTo(read(part));
      assertThat(part.bytes()).isEqualTo(2400);
    }
  }

  @Test
  void wrongLengthsRowRulesAndTooMuchMemoryAreRefused() {
    UpdateRule sum = UpdateRules.parse("sum");
    try (var part = new TensorPart("w", 10, sum, budget)) {
      MemorySegment four = MemorySegment.ofArray(new float[4]);
      assertThatThrownBy(() -> part.update(8, 4, four, 0, 1))
          .hasMessage("tensor 'w': 4 elements from 8 on of a part of 10");
      assertThatThrownBy(() -> part.update(0, 4, four, 4, 1))
          .hasMessage("tensor 'w': 16 bytes, but there are 12 from offset 4 on");
      assertThatThrownBy(() -> part.importBytes(30, four, 0, 16))
          .hasMessageContaining("16 bytes at 30 of 40");
      assertThat(four.get(JAVA_FLOAT, 0)).isZero();
    }
    assertThat(budget.usedBytes()).isZero();
    assertThatThrownBy(() -> new TensorPart("w", 10, UpdateRules.parse("rowwise-adagrad"), budget))
        .hasMessageContaining("needs rows");
    assertThatThrownBy(() -> new TensorPart("w", 1 << 18, UpdateRules.parse("adagrad"), budget))
        .isInstanceOf(MemoryBudgetException.class)
        .hasMessageContaining("tensor 'w' needs 2097152 bytes more");
    assertThatThrownBy(() -> new TensorPart("w", 0, sum, budget))
        .hasMessageContaining("a part of 0 elements");
  }
}
