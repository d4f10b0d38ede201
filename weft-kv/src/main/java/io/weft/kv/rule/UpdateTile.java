// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Heap memory in which an update rule works on some rows of equal width, row after row: the JIT
/// compiles loops over such arrays to vectors. FLOAT32. Belongs to one table or tensor part; its
/// thread.
public final class UpdateTile {

  private final int elements;
  private final float[] values;
  private final float[] gradient;
  private final float[][] slots;
  private final float[][] rowSlots;

  /// Memory for as many elements, and for at most as many rows, as `elements` says, with the slots
  /// that `rule` asks for.
  public UpdateTile(UpdateRule rule, int elements) {
    this.elements = elements;
    values = new float[elements];
    gradient = new float[elements];
    slots = new float[rule.slots()][elements];
    rowSlots = new float[rule.rowSlots()][elements];
  }

  /// How many elements fit.
  public int elements() {
    return elements;
  }

  /// The values, which a rule changes: element `c` of row `r` at `r * width + c`.
  public float[] values() {
    return values;
  }

  /// What was pushed, laid out as the values. A rule may overwrite it.
  public float[] gradient() {
    return gradient;
  }

  /// Slot `slot` of each value, laid out as the values, which a rule changes.
  public float[] slot(int slot) {
    return slots[slot];
  }

  /// Slot `slot` of each row, at the number of the row in the tile, which a rule changes.
  public float[] rowSlot(int slot) {
    return rowSlots[slot];
  }
}
