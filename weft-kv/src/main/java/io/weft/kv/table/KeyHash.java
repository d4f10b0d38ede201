// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// Hash of a 64-bit key: all of its bits depend on all of the key's, and different keys have
/// different hashes. It is no other hash of Weft's, so that keys that were chosen for a shard by
/// their hash are spread all the same.
final class KeyHash {

  private static final long DISTINCT = 0xA0761D6478BD642FL;

  private KeyHash() {}

  /// Hot path.
  static long of(long key) {
    long h = (key ^ DISTINCT) * 0x9E3779B97F4A7C15L;
    h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
    h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
    return h ^ (h >>> 32);
  }
}
