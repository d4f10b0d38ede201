// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.util.Arrays;

/// Keys and their values of different lengths (ps-lite's `KVPairs`). Immutable, except for its
/// arrays.
public final class KvPairs {

  private final long[] keys;
  private final int[] lengths;
  private final float[] values;

  KvPairs(long[] keys, int[] lengths, float[] values) {
    this.keys = keys;
    this.lengths = lengths;
    this.values = values;
  }

  /// Returns the keys in the order of the request.
  public long[] keys() {
    return keys;
  }

  /// Returns the length of each key's value in floats, or 0 for a key without a value.
  public int[] lengths() {
    return lengths;
  }

  /// Returns the values, stored contiguously.
  public float[] values() {
    return values;
  }

  /// Returns the value of the key at a position. It is empty for a key without a value.
  public float[] value(int place) {
    int from = Arrays.stream(lengths, 0, place).sum();
    return Arrays.copyOfRange(values, from, from + lengths[place]);
  }
}
