// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT32;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// INT32 on heap tiles.
final class IntTiles {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 2048;

  private static final ThreadLocal<IntTiles> TILES = ThreadLocal.withInitial(IntTiles::new);

  private final int[] a = new int[TILE];
  private final int[] b = new int[TILE];

  private IntTiles() {}

  static void reduce(
      ReduceOp op,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT32, into, at, left, p, right, q, elements);
    IntTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE * 4L) {
      int n = (int) Math.min(TILE, (bytes - i) / 4);
      MemorySegment.copy(left, JAVA_INT_UNALIGNED, p + i, tile.a, 0, n);
      MemorySegment.copy(right, JAVA_INT_UNALIGNED, q + i, tile.b, 0, n);
      switch (op) {
        case SUM, AVERAGE -> sum(tile.a, tile.b, n);
        case MIN -> min(tile.a, tile.b, n);
        case MAX -> max(tile.a, tile.b, n);
        case PRODUCT -> product(tile.a, tile.b, n);
      }
      MemorySegment.copy(tile.a, 0, into, JAVA_INT_UNALIGNED, at + i, n);
    }
  }

  static void divide(MemorySegment data, long p, long elements, int divisor) {
    long bytes = Runs.bytes(INT32, data, p, elements);
    IntTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE * 4L) {
      int n = (int) Math.min(TILE, (bytes - i) / 4);
      MemorySegment.copy(data, JAVA_INT_UNALIGNED, p + i, tile.a, 0, n);
      quotient(tile.a, divisor, n);
      MemorySegment.copy(tile.a, 0, data, JAVA_INT_UNALIGNED, p + i, n);
    }
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
