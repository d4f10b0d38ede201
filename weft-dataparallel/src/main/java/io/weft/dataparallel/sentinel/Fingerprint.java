// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// A 64-bit hash of a tensor's bits. A difference in a single word of 8 bytes always changes the
/// hash; other differences are missed with probability 2^-64. It protects against faults, not
/// against attackers. Equal tensors have equal hashes on all machines. Pure.
final class Fingerprint {

  /// An odd number with many bits set, from the golden ratio.
  private static final long FACTOR = 0x9e37_79b9_7f4a_7c15L;

  private static final int LANES = 4;
  private static final long STRIDE = LANES * (long) Long.BYTES;

  private Fingerprint() {}

  /// Returns the hash of these bytes.
  ///
  /// Hot path.
  static long of(MemorySegment data) {
    long length = data.byteSize();
    long a = length;
    long b = 1;
    long c = 2;
    long d = 3;
    long at = 0;
    // Four lanes, so that their multiplications overlap.
    for (; at + STRIDE <= length; at += STRIDE) {
      a = mix(a, data.get(JAVA_LONG_UNALIGNED, at));
      b = mix(b, data.get(JAVA_LONG_UNALIGNED, at + 8));
      c = mix(c, data.get(JAVA_LONG_UNALIGNED, at + 16));
      d = mix(d, data.get(JAVA_LONG_UNALIGNED, at + 24));
    }
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      a = mix(a, data.get(JAVA_LONG_UNALIGNED, at));
    }
    long rest = 0;
    for (; at < length; at++) {
      rest = rest << Byte.SIZE | Byte.toUnsignedLong(data.get(JAVA_BYTE, at));
    }
    return mix(mix(mix(mix(a, rest), b), c), d);
  }

  /// Mixes a word into the hash. The function is one-to-one in each argument while the other is
  /// fixed, so a single difference always changes the hash.
  private static long mix(long hash, long word) {
    long product = (hash ^ word) * FACTOR;
    return product ^ product >>> 32;
  }
}
