// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.clicks;

import java.util.Objects;

/// The encoding of categories in `Examples`: two bytes a column, the higher byte first.
public final class Ids {

  /// The number of categories of a column; ids are below it.
  public static final int VOCABULARY = 500;

  /// The bytes of an id.
  public static final int BYTES = 2;

  private Ids() {}

  /// Puts a column's id into a row.
  static void put(byte[] row, int column, int id) {
    Objects.checkIndex(id, VOCABULARY);
    row[BYTES * column] = (byte) (id >> Byte.SIZE);
    row[BYTES * column + 1] = (byte) id;
  }

  /// Returns the key of a row's id in a table of all columns' categories.
  ///
  /// @param first the offset of the row
  public static long key(byte[] values, int first, int column) {
    return (long) column * VOCABULARY + get(values, first, column);
  }

  /// Returns a column's id in the row that begins at `first`.
  static int get(byte[] values, int first, int column) {
    int at = first + BYTES * column;
    return (values[at] & 0xff) << Byte.SIZE | (values[at + 1] & 0xff);
  }
}
