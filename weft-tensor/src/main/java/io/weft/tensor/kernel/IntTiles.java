// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT32;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// INT32 on heap tiles.
final class IntTiles extends HeapTile<int[]> {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 2048;

  static final ThreadLocal<IntTiles> TILES = ThreadLocal.withInitial(IntTiles::new);

  private IntTiles() {
    super(INT32, new int[TILE], new int[TILE], MemorySegment::ofArray);
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

  private static void sum(int[] a, int[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] += b[i];
    }
  }

  private static void min(int[] a, int[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.min(a[i], b[i]);
    }
  }

  private static void max(int[] a, int[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.max(a[i], b[i]);
    }
  }

  private static void product(int[] a, int[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] *= b[i];
    }
  }

  /// Divides in binary64, which is faster than integer division and exact here: a fractional
  /// quotient is at least 1 part in 2^31 away from the next whole number, far more than the
  /// rounding of 1 part in 2^53.
  private static void quotient(int[] a, double divisor, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (int) (a[i] / divisor);
    }
  }
}
