// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// Looks for floats that are no numbers or infinite.
final class Finite {

  private static final int EXPONENT = 0x7f800000;

  private Finite() {}

  /// Index of the first; -1 = all are finite.
  ///
  /// Hot path.
  static long firstOther(MemorySegment values) {
    for (long at = 0; at < values.byteSize(); at += 4) {
      if ((values.get(JAVA_INT_UNALIGNED, at) & EXPONENT) == EXPONENT) {
        return at / 4;
      }
    }
    return -1;
  }
}
