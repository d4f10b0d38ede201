// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateTile;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// Applies an update rule to contiguous elements, tile by tile. Each slot is a contiguous array at
/// a fixed distance from the previous one. One thread.
final class ElementUpdates {

  private static final int TILE_ELEMENTS = 2048;

  private UpdateRule rule;
  private final UpdateTile tile;

  /// Throws `IllegalArgumentException` for a rule with row slots, which cannot be cut into tiles.
  ///
  /// @param owner the name for messages
  /// @param most the maximum number of elements
  ElementUpdates(String owner, UpdateRule rule, long most) {
    if (rule.rowSlots() > 0) {
      throw new IllegalArgumentException(
          owner + ": its update rule " + rule + " needs rows, and only a table of rows has them");
    }
    this.rule = rule;
    this.tile = new UpdateTile(rule, (int) Math.min(TILE_ELEMENTS, most));
  }

  /// Replaces the rule with one that has equal slots.
  void use(UpdateRule other) {
    rule = Objects.requireNonNull(other, "rule");
  }

  /// Writes the initial values of the slots.
  ///
  /// @param at offset of the first value
  /// @param stride the distance from a value to its first slot, and between slots, in bytes
  void initialize(MemorySegment memory, long at, long stride, long elements) {
    for (int slot = 0; slot < rule.slots(); slot++) {
      float initial = rule.initialSlot(slot);
      long first = at + (1L + slot) * stride;
      for (long i = 0; initial != 0 && i < elements; i++) {
        memory.set(JAVA_FLOAT, first + i * Float.BYTES, initial);
      }
    }
  }

  /// Applies a gradient to `count` elements.
  ///
  /// Hot path.
  ///
  /// @param at offset of the first value
  /// @param stride the distance from a value to its first slot, and between slots, in bytes
  /// @param gradient FLOAT32 from `offset` in bytes, of any alignment
  /// @param step number of this update, from 1
  void apply(
      MemorySegment memory,
      long at,
      long stride,
      long count,
      MemorySegment gradient,
      long offset,
      long step) {
    float rate = rule.rate(step);
    for (long done = 0; done < count; done += tile.elements()) {
      int n = (int) Math.min(tile.elements(), count - done);
      long here = at + done * Float.BYTES;
      long from = offset + done * Float.BYTES;
      MemorySegment.copy(gradient, JAVA_FLOAT_UNALIGNED, from, tile.gradient(), 0, n);
      MemorySegment.copy(memory, JAVA_FLOAT, here, tile.values(), 0, n);
      for (int slot = 0; slot < rule.slots(); slot++) {
        long there = here + (1L + slot) * stride;
        MemorySegment.copy(memory, JAVA_FLOAT, there, tile.slot(slot), 0, n);
      }
      rule.apply(tile, 1, n, rate);
      MemorySegment.copy(tile.values(), 0, memory, JAVA_FLOAT, here, n);
      for (int slot = 0; slot < rule.slots(); slot++) {
        long there = here + (1L + slot) * stride;
        MemorySegment.copy(tile.slot(slot), 0, memory, JAVA_FLOAT, there, n);
      }
    }
  }
}
