// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.kv.frame.KvHead.Values;
import java.lang.foreign.MemorySegment;

/// Searches floats for NaN and infinity.
public final class Finite {

  private static final int EXPONENT = 0x7f800000;
  private static final int HALF_EXPONENT = 0x7c00;

  private Finite() {}

  /// Returns the index of the first such FLOAT32 value, or -1 if all are finite.
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

  /// Returns the index of the first such value of this format, or -1 if all are finite. Quantized
  /// values are always finite.
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

  /// Returns the value at an index as text, for messages.
  public static String text(MemorySegment values, long index, Values format) {
    return Float.toString(
        format == Values.FLOAT16
            ? Float.float16ToFloat(values.getAtIndex(JAVA_SHORT_UNALIGNED, index))
            : Float.intBitsToFloat(values.getAtIndex(JAVA_INT_UNALIGNED, index)));
  }
}
