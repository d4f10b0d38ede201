// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A list of keys, and the rows that they have in a table: kept for lists that repeat, so that
/// their keys are looked up once. Reusable; grows, never shrinks; 12 bytes a key, in the heap. One
/// thread.
public final class RowList {

  private long[] keys = new long[0];
  private int[] rows = new int[0];
  private int count;
  private int missing;
  private boolean distinct;
  private @Nullable RowTable table;
  private long version;

  /// Empty.
  public RowList() {}

  /// Takes the keys in the place of those that were here.
  ///
  /// Hot path.
  ///
  /// @param from INT64 from `offset` in bytes, of any alignment
  public void set(MemorySegment from, long offset, int keyCount) {
    reserve(keyCount);
    MemorySegment.copy(from, JAVA_LONG_UNALIGNED, offset, keys, 0, keyCount);
  }

  /// Takes the first `keyCount` keys in the place of those that were here.
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

  /// Keys.
  public int count() {
    return count;
  }

  /// The key at a place.
  public long key(int place) {
    return keys[checked(place)];
  }

  /// Whether the key at a place has a row, as found by `RowTable.resolve`.
  public boolean hasRow(int place) {
    return table != null && rows[checked(place)] >= 0;
  }

  private int checked(int place) {
    if (place < 0 || place >= count) {
      throw new IndexOutOfBoundsException("place " + place + " of " + count + " keys");
    }
    return place;
  }

  /// Keys without a row, as found by `RowTable.resolve`.
  public int missing() {
    return table == null ? count : missing;
  }

  /// Whether each key is greater than the one before, as signed numbers.
  public boolean isAscending() {
    for (int i = 1; i < count; i++) {
      if (keys[i - 1] >= keys[i]) {
        return false;
      }
    }
    return true;
  }

  /// Memory taken.
  public long bytes() {
    return (long) keys.length * (Long.BYTES + Integer.BYTES);
  }

  /// The same keys, in memory of just their length, for lists that are kept.
  public RowList copy() {
    var copy = new RowList();
    copy.keys = Arrays.copyOf(keys, count);
    copy.rows = Arrays.copyOf(rows, count);
    copy.count = count;
    copy.missing = missing;
    copy.distinct = distinct;
    copy.table = table;
    copy.version = version;
    return copy;
  }

  /// The keys at places `first` to `first + keyCount`, as a list of their own.
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

  /// Whether it is known that all keys have rows, each another one.
  boolean isDistinct() {
    return distinct;
  }

  boolean isOf(RowTable other, long itsVersion) {
    return table == other && version == itsVersion;
  }

  void resolved(RowTable by, long itsVersion, int withoutRow) {
    table = by;
    version = itsVersion;
    missing = withoutRow;
    distinct = withoutRow == 0 && isAscending();
  }
}
