// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT64;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// INT64 on heap tiles.
final class LongTiles extends HeapTile<long[]> {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 1024;

  static final ThreadLocal<LongTiles> TILES = ThreadLocal.withInitial(LongTiles::new);

  private LongTiles() {
    super(INT64, new long[TILE], new long[TILE], MemorySegment::ofArray);
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

  private static void sum(long[] a, long[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] += b[i];
    }
  }

  private static void min(long[] a, long[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.min(a[i], b[i]);
    }
  }

  private static void max(long[] a, long[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Math.max(a[i], b[i]);
    }
  }

  private static void product(long[] a, long[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] *= b[i];
    }
  }

  private static void quotient(long[] a, long divisor, int n) {
    for (int i = 0; i < n; i++) {
      a[i] /= divisor;
    }
  }
}
