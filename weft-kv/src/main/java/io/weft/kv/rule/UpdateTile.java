// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Heap memory in which an update rule processes rows of equal width, row after row, because the
/// JIT vectorizes loops over such arrays. FLOAT32. Belongs to one table or tensor part; confined to
/// its thread.
public final class UpdateTile {

  private final int elements;
  private final float[] values;
  private final float[] gradient;
  private final float[][] slots;
  private final float[][] rowSlots;

  /// Creates a tile of `elements` elements, and at most `elements` rows, with the slots of `rule`.
  public UpdateTile(UpdateRule rule, int elements) {
    this.elements = elements;
    values = new float[elements];
    gradient = new float[elements];
    slots = new float[rule.slots()][elements];
    rowSlots = new float[rule.rowSlots()][elements];
  }

  /// Returns the number of elements.
  public int elements() {
    return elements;
  }

  /// Returns the values, which a rule changes: element `c` of row `r` at `r * width + c`.
  public float[] values() {
    return values;
  }

  /// Returns the pushed gradient, in the layout of the values. A rule may overwrite it.
  public float[] gradient() {
    return gradient;
  }

  /// Returns slot `slot` of each value, in the layout of the values. A rule changes it.
  public float[] slot(int slot) {
    return slots[slot];
  }

  /// Returns slot `slot` of each row, indexed by the row's number in the tile. A rule changes it.
  public float[] rowSlot(int slot) {
    return rowSlots[slot];
  }
}
