// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.FLOAT32;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// Binary32 on heap tiles. NaNs are made canonical on the bits, because the JIT does not vectorise
/// a loop that tests each element for NaN. The bits are copied, because the JIT does not vectorise
/// a loop that reinterprets each element either.
final class FloatTiles extends HeapTile<float[]> {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 2048;

  static final ThreadLocal<FloatTiles> TILES = ThreadLocal.withInitial(FloatTiles::new);

  private final int[] bits = new int[TILE];

  private FloatTiles() {
    super(FLOAT32, new float[TILE], new float[TILE], MemorySegment::ofArray);
  }

  @Override
  void combine(ReduceOp op, int n) {
    combine(op, a, b, n);
  }

  @Override
  void divide(int divisor, int n) {
    quotient(a, divisor, n);
  }

  @Override
  void store(MemorySegment into, long offset, int n) {
    MemorySegment.copy(aBytes, JAVA_INT, 0, bits, 0, n);
    canonical(bits, n);
    MemorySegment.copy(bits, 0, into, JAVA_INT_UNALIGNED, offset, n);
  }

  /// Combines two arrays of binary32 without making NaNs canonical.
  static void combine(ReduceOp op, float[] a, float[] b, int n) {
    switch (op) {
      case SUM, AVERAGE -> sum(a, b, n);
      case MIN -> min(a, b, n);
      case MAX -> max(a, b, n);
      case PRODUCT -> product(a, b, n);
    }
  }

  private static void sum(float[] a, float[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] += b[i];
    }
  }

  private static void min(float[] a, float[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.min(a[i], b[i]);
    }
  }

  private static void max(float[] a, float[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.max(a[i], b[i]);
    }
  }

  private static void product(float[] a, float[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] *= b[i];
    }
  }

  static void quotient(float[] a, float divisor, int n) {
    for (int i = 0; i < n; i++) {
      a[i] /= divisor;
    }
  }

  /// Replaces the bits of every NaN by the canonical NaN. A magnitude above infinity's makes the
  /// difference negative and the shifted mask all ones.
  static void canonical(int[] bits, int n) {
    for (int i = 0; i < n; i++) {
      int nan = (0x7f800000 - (bits[i] & 0x7fffffff)) >> 31;
      bits[i] = (bits[i] & ~nan) | (HalfPrecision.NAN_32 & nan);
    }
  }
}
