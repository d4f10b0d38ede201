// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Rows with their ids, of which those with the same id are added, in the order in which they
/// stand. In memory a row is its id (INT64) and then its elements (FLOAT32). Pure.
///
/// @param ids of the rows, ascending, each once
/// @param order places of the rows given, by id and then by place
/// @param starts of the rows with each id in `order`, and its length at the end
record RowSums(long[] ids, int[] order, int[] starts) {

  /// Finds the rows that belong together.
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

  /// Merge sort from below, which keeps equal ones in order.
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

  /// How many rows there are, each id once.
  int count() {
    return ids.length;
  }

  /// Where rows lie.
  ///
  /// @param memory FLOAT32 rows, and perhaps ids between them
  /// @param head bytes before the elements of each row
  /// @param width elements of a row
  record Rows(MemorySegment memory, long head, long width) {

    /// Length of a row and what stands before it, in bytes.
    long stride() {
      return head + width * Float.BYTES;
    }

    /// The first byte of a row's elements.
    long at(long row) {
      return row * stride() + head;
    }
  }

  /// Adds up rows.
  ///
  /// @param given as many as ids were given
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
