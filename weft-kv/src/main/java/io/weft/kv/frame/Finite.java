// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.kv.frame.KvHead.Values;
import java.lang.foreign.MemorySegment;

/// Looks for floats that are no numbers or infinite.
public final class Finite {

  private static final int EXPONENT = 0x7f800000;
  private static final int HALF_EXPONENT = 0x7c00;

  private Finite() {}

  /// Index of the first of FLOAT32; -1 = all are finite.
  ///
  /// Hot path.
  public static long firstOther(MemorySegment values) {
    for (long at = 0; at < values.byteSize(); at += 4) {
      if ((values.get(JAVA_INT_UNALIGNED, at) & EXPONENT) == EXPONENT) {
        return at / 4;
      }
    }
    return -1;
  }

  /// Index of the first of this format; -1 = all are finite, as whole numbers with scales are.
  public static long firstOther(MemorySegment values, Values format) {
    return switch (format) {
      case FLOAT32 -> firstOther(values);
      case FLOAT16 -> firstOtherHalf(values);
      case INT8, INT4, INT2 -> -1;
    };
  }

  private static long firstOtherHalf(MemorySegment values) {
    for (long at = 0; at < values.byteSize(); at += 2) {
      if ((values.get(JAVA_SHORT_UNALIGNED, at) & HALF_EXPONENT) == HALF_EXPONENT) {
        return at / 2;
      }
    }
    return -1;
  }

  /// What stands there, for messages.
  public static String text(MemorySegment values, long index, Values format) {
    return Float.toString(
        format == Values.FLOAT16
            ? Float.float16ToFloat(values.getAtIndex(JAVA_SHORT_UNALIGNED, index))
            : Float.intBitsToFloat(values.getAtIndex(JAVA_INT_UNALIGNED, index)));
  }
}
