// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import java.lang.foreign.MemorySegment;

/// A store of one table's rows on disk, by their 64-bit keys. All rows have the same length and
/// begin with their key, 8 bytes in native byte order. The store is temporary: its content is
/// useless after `close`.
///
/// Confined to the thread that opened it. All methods except `close` throw `RowStoreException`.
public interface RowStore extends AutoCloseable {

  /// Reads the rows of keys.
  ///
  /// @param count the number of keys, from the first of `keys`
  /// @param into native memory; the row of `keys[i]` is written at `i` times the length of a row
  /// @param found set to true for each key that has a row, false for the others
  void get(long[] keys, int count, MemorySegment into, boolean[] found);

  /// Writes rows and replaces existing rows of the same keys, all or none.
  ///
  /// @param rows native memory, contiguous rows
  void put(MemorySegment rows, int count);

  /// Removes the rows of keys that exist, all or none.
  ///
  /// @param count the number of keys, from the first of `keys`
  void remove(long[] keys, int count);

  /// Reads rows into the available space, in the order of their keys as signed numbers. Returns
  /// their number; 0 = no more rows exist.
  ///
  /// @param from the least key
  /// @param into native memory, for at least one row
  int scan(long from, MemorySegment into);

  /// Returns a snapshot of the current rows, which later writes do not change.
  View view();

  /// Returns the approximate bytes on disk.
  long diskBytes();

  /// Closes the store and its open views. The creator of the directory must delete it.
  @Override
  void close();

  /// A snapshot of the rows of a store. Owned; confined to the store's thread.
  interface View extends AutoCloseable {

    /// Reads the next rows into the available space, in the order of their keys. Returns their
    /// number; 0 = no more rows exist.
    ///
    /// @param into native memory, for at least one row
    int next(MemorySegment into);

    /// Lets the store discard the versions that have been overwritten since.
    @Override
    void close();
  }
}
