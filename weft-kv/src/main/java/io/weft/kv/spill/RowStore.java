// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import java.lang.foreign.MemorySegment;

/// Rows of one table by their 64-bit keys, on disk. A row is bytes of one length that begin with
/// its key, 8 bytes in the order of this processor. Scratch: what it holds is of no use after
/// `close`.
///
/// Of the thread that opened it. All calls but `close` throw `RowStoreException`.
public interface RowStore extends AutoCloseable {

  /// Looks for the rows of keys.
  ///
  /// @param count of the keys, the first of `keys`
  /// @param into native memory; the row of `keys[i]` is written at `i` times the length of a row
  /// @param found whether there is a row of each key
  void get(long[] keys, int count, MemorySegment into, boolean[] found);

  /// Writes rows, each in the place of the one of its key if there is one; all or none.
  ///
  /// @param rows native memory, one row behind the other
  void put(MemorySegment rows, int count);

  /// Takes the rows of keys out, where there are some; all or none.
  ///
  /// @param count of the keys, the first of `keys`
  void remove(long[] keys, int count);

  /// Reads rows in the order of their keys, as signed numbers: as many as fit. How many; 0 = there
  /// are no more.
  ///
  /// @param from no key is less
  /// @param into native memory, for one row at least
  int scan(long from, MemorySegment into);

  /// What is there now, whatever is written later.
  View view();

  /// Bytes on the disk, about.
  long diskBytes();

  /// Closes it, and views that are open. Who has made its directory deletes that.
  @Override
  void close();

  /// The rows that a store had at one moment. Owned; of the store's thread.
  interface View extends AutoCloseable {

    /// Reads the next rows in the order of their keys: as many as fit. How many; 0 = that was all.
    ///
    /// @param into native memory, for one row at least
    int next(MemorySegment into);

    /// Lets the store forget what has been written over since.
    @Override
    void close();
  }
}
