// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A list of keys and of their rows in a table. Repeated lists are kept, so that their keys are
/// looked up once. Reusable. Its capacity grows and never shrinks. It takes 12 bytes per key, in
/// the heap. One thread.
public final class RowList {

  private long[] keys = new long[0];
  private int[] rows = new int[0];
  private int count;
  private int missing;
  private boolean distinct;
  private @Nullable RowTable table;
  private long version;
  private long made;

  /// Creates an empty list.
  public RowList() {}

  /// Replaces the keys.
  ///
  /// Hot path.
  ///
  /// @param from INT64 from `offset` in bytes, of any alignment
  public void set(MemorySegment from, long offset, int keyCount) {
    reserve(keyCount);
    MemorySegment.copy(from, JAVA_LONG_UNALIGNED, offset, keys, 0, keyCount);
  }

  /// Replaces the keys with the first `keyCount` keys of an array.
  public void set(long[] from, int keyCount) {
    reserve(keyCount);
    System.arraycopy(from, 0, keys, 0, keyCount);
  }

  private void reserve(int keyCount) {
    if (keyCount < 0) {
      throw new IllegalArgumentException("a list of " + keyCount + " keys");
    }
    table = null;
    if (keyCount > keys.length) {
      keys = new long[keyCount];
      rows = new int[keyCount];
    }
    count = keyCount;
  }

  /// Returns the number of keys.
  public int count() {
    return count;
  }

  /// Returns the key at a position.
  public long key(int place) {
    return keys[checked(place)];
  }

  /// Returns whether `RowTable.resolve` found a row of the key at a position.
  public boolean hasRow(int place) {
    return table != null && rows[checked(place)] >= 0;
  }

  private int checked(int place) {
    if (place < 0 || place >= count) {
      throw new IndexOutOfBoundsException("place " + place + " of " + count + " keys");
    }
    return place;
  }

  /// Returns the number of keys for which `RowTable.resolve` found no row.
  public int missing() {
    return table == null ? count : missing;
  }

  /// Returns whether each key is greater than the previous one, as signed numbers.
  public boolean isAscending() {
    for (int i = 1; i < count; i++) {
      if (keys[i - 1] >= keys[i]) {
        return false;
      }
    }
    return true;
  }

  /// Returns the memory in bytes.
  public long bytes() {
    return (long) keys.length * (Long.BYTES + Integer.BYTES);
  }

  /// Returns a copy without spare capacity, for lists that are kept.
  public RowList copy() {
    var copy = new RowList();
    copy.keys = Arrays.copyOf(keys, count);
    copy.rows = Arrays.copyOf(rows, count);
    copy.count = count;
    copy.missing = missing;
    copy.distinct = distinct;
    copy.table = table;
    copy.version = version;
    copy.made = made;
    return copy;
  }

  /// Returns the keys at positions `first` to `first + keyCount` as a separate list.
  public RowList part(int first, int keyCount) {
    var part = new RowList();
    part.keys = Arrays.copyOfRange(keys, first, first + keyCount);
    part.rows = new int[keyCount];
    part.count = keyCount;
    return part;
  }

  long[] keys() {
    return keys;
  }

  int[] rows() {
    return rows;
  }

  /// Returns whether all keys are known to have different rows.
  boolean isDistinct() {
    return distinct;
  }

  boolean isOf(RowTable other, long itsVersion) {
    return table == other && version == itsVersion;
  }

  /// Returns the number of rows that the table had created when it resolved the list.
  long made() {
    return made;
  }

  void resolved(RowTable by, long itsVersion, long itsMade, int withoutRow) {
    table = by;
    version = itsVersion;
    made = itsMade;
    missing = withoutRow;
    distinct = withoutRow == 0 && isAscending();
  }
}
