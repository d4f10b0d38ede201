// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

/// A 64-bit hash of names, equal on all ranks: FNV-1a over UTF-16 units with a final mix.
public final class Hash {

  private Hash() {}

  public static long of(long seed, String text) {
    long h = 0xcbf29ce484222325L ^ mix(seed);
    for (int i = 0; i < text.length(); i++) {
      h = (h ^ text.charAt(i)) * 0x100000001b3L;
    }
    return mix(h);
  }

  public static long mix(long x) {
    long h = (x ^ (x >>> 33)) * 0xff51afd7ed558ccdL;
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return h ^ (h >>> 33);
  }
}
