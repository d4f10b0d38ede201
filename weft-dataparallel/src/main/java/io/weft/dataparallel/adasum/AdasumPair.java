// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.adasum;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// The combination of two gradients. Pure.
final class AdasumPair {

  private AdasumPair() {}

  /// Writes the combination of `lower` and `upper` to `into`, which may be either of them. If one
  /// gradient is zero, the result is the other one.
  ///
  /// Hot path.
  ///
  /// @param lower FLOAT32, of the ranks with the lower numbers
  /// @param upper FLOAT32, of the same length
  static void combine(MemorySegment lower, MemorySegment upper, MemorySegment into, long elements) {
    double product = 0;
    double lowerSquare = 0;
    double upperSquare = 0;
    for (long i = 0; i < elements; i++) {
      double a = lower.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      double b = upper.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      product += a * b;
      lowerSquare += a * a;
      upperSquare += b * b;
    }
    double lowerFactor = lowerSquare == 0 ? 1 : 1 - product / (2 * lowerSquare);
    double upperFactor = upperSquare == 0 ? 1 : 1 - product / (2 * upperSquare);
    for (long i = 0; i < elements; i++) {
      double a = lower.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      double b = upper.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      into.setAtIndex(JAVA_FLOAT_UNALIGNED, i, (float) (lowerFactor * a + upperFactor * b));
    }
  }
}
