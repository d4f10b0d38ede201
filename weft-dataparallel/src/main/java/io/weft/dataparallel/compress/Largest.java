// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Finds the FLOAT32 elements of the largest magnitude by a radix selection on their bits, because
/// magnitudes are ordered like the integers with the same bits. Allocates only in its constructor.
/// One thread.
final class Largest {

  /// The shifts of the digits of the 31 bits without the sign, most significant digit first.
  private static final int[] SHIFTS = {20, 10, 0};

  private static final int DIGIT_BITS = 11;
  private static final int MAGNITUDE = 0x7fff_ffff;

  private final int[] counts = new int[1 << DIGIT_BITS];
  private int atThreshold;

  /// Returns the bits of the `k`th largest magnitude, `k` from 1 to `elements`. All elements must
  /// be finite.
  ///
  /// Hot path.
  int threshold(MemorySegment values, int elements, int k) {
    int prefix = 0;
    int known = 0; // mask of the known digits
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

  /// Returns the number of elements with exactly the threshold's magnitude that belong to the
  /// largest; they are those with the lowest indices.
  int atThreshold() {
    return atThreshold;
  }

  /// Returns the magnitude of an element, as bits.
  static int bits(MemorySegment values, long index) {
    return values.getAtIndex(JAVA_INT_UNALIGNED, index) & MAGNITUDE;
  }
}
