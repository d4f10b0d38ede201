// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The neutral elements that a joined rank contributes: zero for SUM and AVERAGE, one for PRODUCT,
/// the largest number for MIN and the smallest for MAX.
public final class Neutral {

  private Neutral() {}

  /// Fills memory, whose length must be a multiple of the element's, with the neutral element.
  public static void fill(MemorySegment memory, DType dtype, ReduceOp op) {
    if (op == ReduceOp.SUM || op == ReduceOp.AVERAGE) {
      memory.fill((byte) 0);
      return;
    }
    long bits = bits(dtype, op);
    for (long at = 0; at < memory.byteSize(); at += dtype.bytes()) {
      switch (dtype.bytes()) {
        case 1 -> memory.set(ValueLayout.JAVA_BYTE, at, (byte) bits);
        case 2 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) bits);
        case 4 -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) bits);
        default -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, bits);
      }
    }
  }

  private static long bits(DType dtype, ReduceOp op) {
    boolean one = op == ReduceOp.PRODUCT;
    boolean largest = op == ReduceOp.MIN;
    return switch (dtype) {
      case FLOAT16 -> one ? 0x3C00 : largest ? 0x7C00 : 0xFC00;
      case BFLOAT16 -> one ? 0x3F80 : largest ? 0x7F80 : 0xFF80;
      case FLOAT32 -> Float.floatToRawIntBits(one ? 1 : infinite(largest));
      case FLOAT64 -> Double.doubleToRawLongBits(one ? 1 : infinite(largest));
      case UINT8 -> one ? 1 : largest ? 0xFF : 0;
      case INT8 -> one ? 1 : largest ? Byte.MAX_VALUE : Byte.MIN_VALUE;
      case INT32 -> one ? 1 : largest ? Integer.MAX_VALUE : Integer.MIN_VALUE;
      case INT64 -> one ? 1 : largest ? Long.MAX_VALUE : Long.MIN_VALUE;
    };
  }

  private static float infinite(boolean largest) {
    return largest ? Float.POSITIVE_INFINITY : Float.NEGATIVE_INFINITY;
  }
}
