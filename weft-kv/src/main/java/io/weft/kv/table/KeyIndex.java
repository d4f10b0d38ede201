// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.util.Arrays;

/// An index that numbers keys from 0 in the order of their addition. Open addressing with linear
/// probing, in the heap, with 12 bytes per place and at most half of the places used. Keys are
/// never removed. One thread.
final class KeyIndex {

  private static final int LEAST_PLACES = 16;

  private long[] keys = new long[LEAST_PLACES];
  private int[] numbers = empty(LEAST_PLACES);
  private int size;

  private static int[] empty(int places) {
    int[] numbers = new int[places];
    Arrays.fill(numbers, -1);
    return numbers;
  }

  int size() {
    return size;
  }

  /// Returns the number of a key, or -1.
  ///
  /// Hot path.
  int find(long key) {
    return numbers[place(key)];
  }

  /// Returns the place of a key, or the empty place for it.
  private int place(long key) {
    int mask = keys.length - 1;
    int at = (int) KeyHash.of(key) & mask;
    while (numbers[at] >= 0 && keys[at] != key) {
      at = (at + 1) & mask;
    }
    return at;
  }

  /// Adds a key that is not in the index and returns its number.
  int add(long key) {
    if (2 * (size + 1) > keys.length) {
      grow();
    }
    int at = place(key);
    keys[at] = key;
    numbers[at] = size;
    return size++;
  }

  private void grow() {
    long[] before = keys;
    int[] its = numbers;
    keys = new long[Math.multiplyExact(before.length, 2)];
    numbers = empty(keys.length);
    for (int i = 0; i < before.length; i++) {
      if (its[i] >= 0) {
        int at = place(before[i]);
        keys[at] = before[i];
        numbers[at] = its[i];
      }
    }
  }
}
