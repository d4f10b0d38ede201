// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// The sums of rows with equal ids, added in the order of the given rows. In memory a row is its id
/// (INT64) followed by its elements (FLOAT32). Pure.
///
/// @param ids ids of the rows, ascending, each once
/// @param order places of the given rows, by id and then by place
/// @param starts start of each id's rows in `order`, and the length of `order` at the end
record RowSums(long[] ids, int[] order, int[] starts) {

  /// Groups the given rows by id.
  static RowSums of(long[] given) {
    int[] order = stableOrder(given);
    int[] starts = new int[given.length + 1];
    long[] ids = new long[given.length];
    int unique = 0;
    for (int i = 0; i < order.length; i++) {
      long id = given[order[i]];
      if (i == 0 || id != ids[unique - 1]) {
        ids[unique] = id;
        starts[unique++] = i;
      }
    }
    starts[unique] = given.length;
    return new RowSums(Arrays.copyOf(ids, unique), order, Arrays.copyOf(starts, unique + 1));
  }

  /// Sorts by a bottom-up merge sort, which is stable.
  private static int[] stableOrder(long[] keys) {
    int n = keys.length;
    int[] from = new int[n];
    for (int i = 0; i < n; i++) {
      from[i] = i;
    }
    int[] into = new int[n];
    for (long run = 1; run < n; run *= 2) {
      for (long first = 0; first < n; first += 2 * run) {
        int middle = (int) Math.min(n, first + run);
        int end = (int) Math.min(n, first + 2 * run);
        int left = (int) first;
        int right = middle;
        for (int at = left; at < end; at++) {
          boolean takeLeft =
              left < middle && (right == end || keys[from[left]] <= keys[from[right]]);
          into[at] = takeLeft ? from[left++] : from[right++];
        }
      }
      int[] sorted = into;
      into = from;
      from = sorted;
    }
    return from;
  }

  /// Returns the number of different ids.
  int count() {
    return ids.length;
  }

  /// The layout of rows in memory.
  ///
  /// @param memory FLOAT32 rows, optionally with ids between them
  /// @param head bytes before the elements of each row
  /// @param width elements of a row
  record Rows(MemorySegment memory, long head, long width) {

    /// Returns the length of a row and its head, in bytes.
    long stride() {
      return head + width * Float.BYTES;
    }

    /// Returns the offset of a row's first element.
    long at(long row) {
      return row * stride() + head;
    }
  }

  /// Adds the rows of each id.
  ///
  /// @param given one row for each given id
  /// @param into `count` rows of the same width, one for each id
  void add(Rows given, Rows into) {
    for (int row = 0; row < count(); row++) {
      long target = into.at(row);
      long first = given.at(order[starts[row]]);
      MemorySegment.copy(given.memory(), first, into.memory(), target, given.width() * Float.BYTES);
      for (int i = starts[row] + 1; i < starts[row + 1]; i++) {
        addRow(given.memory(), given.at(order[i]), into.memory(), target, given.width());
      }
      if (into.head() == Long.BYTES) {
        into.memory().set(JAVA_LONG_UNALIGNED, target - Long.BYTES, ids[row]);
      }
    }
  }

  private static void addRow(
      MemorySegment from, long place, MemorySegment into, long target, long width) {
    for (long byteAt = 0; byteAt < width * Float.BYTES; byteAt += Float.BYTES) {
      into.set(
          JAVA_FLOAT_UNALIGNED,
          target + byteAt,
          into.get(JAVA_FLOAT_UNALIGNED, target + byteAt)
              + from.get(JAVA_FLOAT_UNALIGNED, place + byteAt));
    }
  }
}
