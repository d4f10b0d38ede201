// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.FLOAT64;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// Binary64 on heap tiles. NaNs are made canonical on the bits, because the JIT does not vectorise
/// a loop that tests each element for NaN. The bits are copied, because the JIT does not vectorise
/// a loop that reinterprets each element either.
final class DoubleTiles extends HeapTile<double[]> {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 1024;

  private static final long INFINITY = 0x7ff0000000000000L;
  private static final long NAN = 0x7ff8000000000000L;

  static final ThreadLocal<DoubleTiles> TILES = ThreadLocal.withInitial(DoubleTiles::new);

  private final long[] bits = new long[TILE];

  private DoubleTiles() {
    super(FLOAT64, new double[TILE], new double[TILE], MemorySegment::ofArray);
  }

  @Override
  void combine(ReduceOp op, int n) {
    switch (op) {
      case SUM, AVERAGE -> sum(a, b, n);
      case MIN -> min(a, b, n);
      case MAX -> max(a, b, n);
      case PRODUCT -> product(a, b, n);
    }
  }

  @Override
  void divide(int divisor, int n) {
    quotient(a, divisor, n);
  }

  @Override
  void store(MemorySegment into, long offset, int n) {
    MemorySegment.copy(aBytes, JAVA_LONG, 0, bits, 0, n);
    canonical(bits, n);
    MemorySegment.copy(bits, 0, into, JAVA_LONG_UNALIGNED, offset, n);
  }

  private static void sum(double[] a, double[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] += b[i];
    }
  }

  private static void min(double[] a, double[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.min(a[i], b[i]);
    }
  }

  private static void max(double[] a, double[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.max(a[i], b[i]);
    }
  }

  private static void product(double[] a, double[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] *= b[i];
    }
  }

  private static void quotient(double[] a, double divisor, int n) {
    for (int i = 0; i < n; i++) {
      a[i] /= divisor;
    }
  }

  /// Replaces the bits of every NaN by the canonical NaN. A magnitude above infinity's makes the
  /// difference negative and the shifted mask all ones.
  private static void canonical(long[] bits, int n) {
    for (int i = 0; i < n; i++) {
      long nan = (INFINITY - (bits[i] & Long.MAX_VALUE)) >> 63;
      bits[i] = (bits[i] & ~nan) | (NAN & nan);
    }
  }
}
