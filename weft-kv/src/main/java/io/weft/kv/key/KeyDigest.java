// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// The digest that identifies a list of keys: two 64-bit sums of mixed keys in their order. It
/// protects against accidental collisions, not against forgery, because every sender of a request
/// has proved that it belongs to the job.
///
/// @param high the first sum
/// @param low the second sum
public record KeyDigest(long high, long low) {

  /// The digest of no list.
  public static final KeyDigest NONE = new KeyDigest(0, 0);

  /// Returns the digest of `count` keys. Pure.
  ///
  /// Hot path.
  public static KeyDigest of(MemorySegment keys, int count) {
    long high = 0x9e3779b97f4a7c15L ^ count;
    long low = 0xc2b2ae3d27d4eb4fL + count;
    for (int i = 0; i < count; i++) {
      long key = keys.get(JAVA_LONG_UNALIGNED, 8L * i);
      high = Long.rotateLeft(high ^ key, 29) * 0xbf58476d1ce4e5b9L;
      low = Long.rotateLeft(low + key, 31) * 0x94d049bb133111ebL + high;
    }
    return new KeyDigest(high ^ (high >>> 32), low ^ (low >>> 29));
  }
}
