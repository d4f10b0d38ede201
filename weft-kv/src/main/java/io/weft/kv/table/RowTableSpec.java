// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRule;

/// The specification of a table of rows.
///
/// @param name for messages and for the initial values
/// @param width values of a row, FLOAT32; 1 to 1,048,576
/// @param rule the update rule of a push
/// @param initial the initial values of rows
/// @param options further options
public record RowTableSpec(
    String name, int width, UpdateRule rule, InitialValues initial, RowOptions options) {

  /// The maximum number of values of a row.
  public static final int MOST_WIDTH = 1 << 20;

  /// Checks the width.
  public RowTableSpec {
    if (width < 1 || width > MOST_WIDTH) {
      throw new IllegalArgumentException(
          "table '%s': a row of %d values; it has 1 to %d".formatted(name, width, MOST_WIDTH));
    }
    if (rule.slots() < 0 || rule.slots() > 16 || rule.rowSlots() < 0 || rule.rowSlots() > 16) {
      throw new IllegalArgumentException(
          "table '%s': its update rule asks for %d slots a value and %d a row; at most 16 each"
              .formatted(name, rule.slots(), rule.rowSlots()));
    }
  }

  /// Returns the bytes of a row, in memory and as exported: 16, and its values and slots.
  public int rowBytes() {
    return Math.addExact(RowMemory.HEAD_BYTES, Math.multiplyExact(floats(), Float.BYTES));
  }

  /// Returns the number of values and slots of a row.
  public int floats() {
    return width * (1 + rule.slots()) + rule.rowSlots();
  }

  /// @param seed of initial values
  /// @param admission how often a key must be used until it gets a row; 1 = at once; at most 255
  /// @param counters the number of one-byte counters for keys without a row, a power of two; used
  ///   if `admission` is above 1
  public record RowOptions(long seed, int admission, int counters) {

    /// The options with seed 0 and without admission.
    public static final RowOptions DEFAULT = new RowOptions(0, 1, 1 << 20);

    /// Checks the bounds.
    public RowOptions {
      if (admission < 1 || admission > 255) {
        throw new IllegalArgumentException("admission after " + admission + " uses; 1 to 255");
      }
      if (counters < 64 || Integer.bitCount(counters) != 1) {
        throw new IllegalArgumentException(
            counters + " counters of admission; a power of two, at least 64");
      }
    }

    /// Returns a copy with another seed.
    public RowOptions withSeed(long other) {
      return new RowOptions(other, admission, counters);
    }

    /// Returns a copy that admits keys after `times` uses.
    public RowOptions withAdmission(int times) {
      return new RowOptions(seed, times, counters);
    }
  }
}
