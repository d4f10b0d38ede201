// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT8;
import static io.weft.tensor.DType.UINT8;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// INT8 and UINT8 on heap tiles. Sums and products have equal bits in both. Flipping the sign bit
/// turns the unsigned order into the signed one.
final class ByteTiles extends HeapTile<byte[]> {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 8192;

  static final ThreadLocal<ByteTiles> SIGNED = ThreadLocal.withInitial(() -> new ByteTiles(INT8));
  static final ThreadLocal<ByteTiles> UNSIGNED =
      ThreadLocal.withInitial(() -> new ByteTiles(UINT8));

  private final int flip;
  private final int mask;

  private ByteTiles(DType dtype) {
    super(dtype, new byte[TILE], new byte[TILE], MemorySegment::ofArray);
    flip = dtype == UINT8 ? 0x80 : 0;
    mask = dtype == UINT8 ? 0xff : -1;
  }

  @Override
  void combine(ReduceOp op, int n) {
    switch (op) {
      case SUM, AVERAGE -> sum(a, b, n);
      case MIN -> min(a, b, flip, n);
      case MAX -> max(a, b, flip, n);
      case PRODUCT -> product(a, b, n);
    }
  }

  @Override
  void divide(int divisor, int n) {
    quotient(a, mask, divisor, n);
  }

  private static void sum(byte[] a, byte[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (a[i] + b[i]);
    }
  }

  private static void min(byte[] a, byte[] b, int flip, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (Math.min((byte) (a[i] ^ flip), (byte) (b[i] ^ flip)) ^ flip);
    }
  }

  private static void max(byte[] a, byte[] b, int flip, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (Math.max((byte) (a[i] ^ flip), (byte) (b[i] ^ flip)) ^ flip);
    }
  }

  private static void product(byte[] a, byte[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (a[i] * b[i]);
    }
  }

  /// Divides in binary32, which is exact here: a fractional quotient is at least 1 part in 2^8 away
  /// from the next whole number, far more than the rounding of 1 part in 2^24.
  private static void quotient(byte[] a, int mask, float divisor, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (int) ((a[i] & mask) / divisor);
    }
  }
}
