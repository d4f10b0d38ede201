// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.clicks;

import java.util.Objects;

/// Categories as `Examples` holds them: two bytes a column, the higher one first.
public final class Ids {

  /// Categories of a column: ids are 0 to this, exclusive.
  public static final int VOCABULARY = 500;

  /// Of an id.
  public static final int BYTES = 2;

  private Ids() {}

  /// Puts a column's id into a row.
  static void put(byte[] row, int column, int id) {
    Objects.checkIndex(id, VOCABULARY);
    row[BYTES * column] = (byte) (id >> Byte.SIZE);
    row[BYTES * column + 1] = (byte) id;
  }

  /// The key of a row's id in a table of all columns' categories.
  ///
  /// @param first where the row begins
  public static long key(byte[] values, int first, int column) {
    return (long) column * VOCABULARY + get(values, first, column);
  }

  /// A column's id in the row that begins at `first`.
  static int get(byte[] values, int first, int column) {
    int at = first + BYTES * column;
    return (values[at] & 0xff) << Byte.SIZE | (values[at + 1] & 0xff);
  }
}
