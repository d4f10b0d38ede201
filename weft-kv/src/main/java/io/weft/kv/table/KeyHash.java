// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// The hash of a 64-bit key. Each bit of the hash depends on all bits of the key, and different
/// keys have different hashes. It differs from all other hashes in Weft, so that keys that were
/// assigned to a shard by another hash are still spread evenly.
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
