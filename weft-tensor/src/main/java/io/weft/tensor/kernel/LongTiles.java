// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT64;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// INT64 on heap tiles.
final class LongTiles {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 1024;

  private static final ThreadLocal<LongTiles> TILES = ThreadLocal.withInitial(LongTiles::new);

  private final long[] a = new long[TILE];
  private final long[] b = new long[TILE];

  private LongTiles() {}

  static void reduce(
      ReduceOp op,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT64, into, at, left, p, right, q, elements);
    LongTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE * 8L) {
      int n = (int) Math.min(TILE, (bytes - i) / 8);
      MemorySegment.copy(left, JAVA_LONG_UNALIGNED, p + i, tile.a, 0, n);
      MemorySegment.copy(right, JAVA_LONG_UNALIGNED, q + i, tile.b, 0, n);
      switch (op) {
        case SUM, AVERAGE -> sum(tile.a, tile.b, n);
        case MIN -> min(tile.a, tile.b, n);
        case MAX -> max(tile.a, tile.b, n);
        case PRODUCT -> product(tile.a, tile.b, n);
      }
      MemorySegment.copy(tile.a, 0, into, JAVA_LONG_UNALIGNED, at + i, n);
    }
  }

  static void divide(MemorySegment data, long p, long elements, int divisor) {
    long bytes = Runs.bytes(INT64, data, p, elements);
    LongTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE * 8L) {
      int n = (int) Math.min(TILE, (bytes - i) / 8);
      MemorySegment.copy(data, JAVA_LONG_UNALIGNED, p + i, tile.a, 0, n);
      quotient(tile.a, divisor, n);
      MemorySegment.copy(tile.a, 0, data, JAVA_LONG_UNALIGNED, p + i, n);
    }
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
