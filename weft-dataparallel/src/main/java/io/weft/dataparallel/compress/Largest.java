// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Finds the largest of many FLOAT32 by magnitude, by counting the digits of their bits: magnitudes
/// are ordered like the integers that their bits are. Allocates nothing after its construction. One
/// thread.
final class Largest {

  /// Of the 31 bits without the sign, most significant digit first.
  private static final int[] SHIFTS = {20, 10, 0};

  private static final int DIGIT_BITS = 11;
  private static final int MAGNITUDE = 0x7fff_ffff;

  private final int[] counts = new int[1 << DIGIT_BITS];
  private int atThreshold;

  /// Bits of the `k`th largest magnitude, `k` from 1 to `elements`. All are finite.
  ///
  /// Hot path.
  int threshold(MemorySegment values, int elements, int k) {
    int prefix = 0;
    int known = 0; // mask of the digits that are known
    int left = k;
    for (int shift : SHIFTS) {
      Arrays.fill(counts, 0);
      for (int i = 0; i < elements; i++) {
        int bits = bits(values, i);
        if ((bits & known) == prefix) {
          counts[(bits >>> shift) & (counts.length - 1) & ~(known >>> shift)]++;
        }
      }
      int digit = counts.length - 1;
      while (counts[digit] < left) {
        left -= counts[digit];
        digit--;
      }
      prefix |= digit << shift;
      known |= ((counts.length - 1) << shift) & MAGNITUDE;
    }
    atThreshold = left;
    return prefix;
  }

  /// Of the elements with exactly the magnitude that `threshold` has found, how many are among the
  /// largest: the ones with the lowest indices.
  int atThreshold() {
    return atThreshold;
  }

  /// Magnitude of an element, as bits.
  static int bits(MemorySegment values, long index) {
    return values.getAtIndex(JAVA_INT_UNALIGNED, index) & MAGNITUDE;
  }
}
