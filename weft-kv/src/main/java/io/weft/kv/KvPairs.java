// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.util.Arrays;

/// Keys and their values of different lengths (ps-lite's `KVPairs`). Immutable, but for its arrays.
public final class KvPairs {

  private final long[] keys;
  private final int[] lengths;
  private final float[] values;

  KvPairs(long[] keys, int[] lengths, float[] values) {
    this.keys = keys;
    this.lengths = lengths;
    this.values = values;
  }

  /// Keys, in the order in which they were asked for.
  public long[] keys() {
    return keys;
  }

  /// Floats of the value of each key; 0 of one that has none.
  public int[] lengths() {
    return lengths;
  }

  /// The values, one behind the other.
  public float[] values() {
    return values;
  }

  /// The value of the key at a place; empty = it has none.
  public float[] value(int place) {
    int from = Arrays.stream(lengths, 0, place).sum();
    return Arrays.copyOfRange(values, from, from + lengths[place]);
  }
}
