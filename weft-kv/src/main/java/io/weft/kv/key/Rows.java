// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// Copies and adds rows of FLOAT32 or FLOAT16.
final class Rows {

  private Rows() {}

  static void copy(MemorySegment from, long at, MemorySegment to, long place, int width) {
    if (width < 8) {
      for (long i = 0; i < 4L * width; i += 4) {
        to.set(JAVA_FLOAT_UNALIGNED, place + i, from.get(JAVA_FLOAT_UNALIGNED, at + i));
      }
    } else {
      MemorySegment.copy(from, at, to, place, 4L * width);
    }
  }

  static void copyHalves(MemorySegment from, long at, MemorySegment to, long place, int width) {
    for (long i = 0; i < 2L * width; i += 2) {
      to.set(JAVA_SHORT_UNALIGNED, place + i, from.get(JAVA_SHORT_UNALIGNED, at + i));
    }
  }

  /// Adds FLOAT16 rows. Each sum is rounded to nearest even.
  static void addHalves(MemorySegment from, long at, MemorySegment to, long place, int width) {
    for (long i = 0; i < 2L * width; i += 2) {
      float sum =
          Float.float16ToFloat(to.get(JAVA_SHORT_UNALIGNED, place + i))
              + Float.float16ToFloat(from.get(JAVA_SHORT_UNALIGNED, at + i));
      to.set(JAVA_SHORT_UNALIGNED, place + i, Float.floatToFloat16(sum));
    }
  }

  static void add(MemorySegment from, long at, MemorySegment to, long place, int width) {
    for (long i = 0; i < 4L * width; i += 4) {
      float sum = to.get(JAVA_FLOAT_UNALIGNED, place + i) + from.get(JAVA_FLOAT_UNALIGNED, at + i);
      to.set(JAVA_FLOAT_UNALIGNED, place + i, sum);
    }
  }
}
