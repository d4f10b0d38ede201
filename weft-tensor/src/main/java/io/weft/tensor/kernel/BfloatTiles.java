// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.BFLOAT16;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// Bfloat16 on heap tiles. An int holds two elements, the even one in its lower half and the odd
/// one in its upper half. The even and the odd elements of a tile are each widened to an array of
/// binary32, combined, and rounded. Copies convert between bits and values, because the JIT does
/// not vectorise a loop that reinterprets each element.
final class BfloatTiles {

  /// Elements per tile: 4 KiB per operand.
  private static final int TILE = 2048;

  private static final int UPPER_HALF = 0xffff0000;
  private static final ThreadLocal<BfloatTiles> TILES = ThreadLocal.withInitial(BfloatTiles::new);

  private final int[] aPairs = new int[TILE / 2];
  private final int[] bPairs = new int[TILE / 2];
  private final int[] even = new int[TILE / 2];
  private final int[] odd = new int[TILE / 2];
  private final float[] a = new float[TILE / 2];
  private final float[] b = new float[TILE / 2];
  private final MemorySegment aPairBytes = MemorySegment.ofArray(aPairs);
  private final MemorySegment bPairBytes = MemorySegment.ofArray(bPairs);
  private final MemorySegment aBytes = MemorySegment.ofArray(a);
  private final MemorySegment bBytes = MemorySegment.ofArray(b);

  private BfloatTiles() {}

  static void reduce(
      ReduceOp op,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(BFLOAT16, into, at, left, p, right, q, elements);
    BfloatTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE * 2L) {
      int n = (int) Math.min(TILE, (bytes - i) / 2);
      MemorySegment.copy(left, p + i, tile.aPairBytes, 0, n * 2L);
      MemorySegment.copy(right, q + i, tile.bPairBytes, 0, n * 2L);
      tile.combine(op, (n + 1) / 2);
      MemorySegment.copy(tile.aPairBytes, 0, into, at + i, n * 2L);
    }
  }

  static void divide(MemorySegment data, long p, long elements, int divisor) {
    long bytes = Runs.bytes(BFLOAT16, data, p, elements);
    BfloatTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE * 2L) {
      int n = (int) Math.min(TILE, (bytes - i) / 2);
      MemorySegment.copy(data, p + i, tile.aPairBytes, 0, n * 2L);
      tile.divide(divisor, (n + 1) / 2);
      MemorySegment.copy(tile.aPairBytes, 0, data, p + i, n * 2L);
    }
  }

  private void combine(ReduceOp op, int n) {
    widenEven(aPairs, even, n);
    MemorySegment.copy(even, 0, aBytes, JAVA_INT, 0, n);
    widenEven(bPairs, even, n);
    MemorySegment.copy(even, 0, bBytes, JAVA_INT, 0, n);
    FloatTiles.combine(op, a, b, n);
    round(even, n);
    widenOdd(aPairs, odd, n);
    MemorySegment.copy(odd, 0, aBytes, JAVA_INT, 0, n);
    widenOdd(bPairs, odd, n);
    MemorySegment.copy(odd, 0, bBytes, JAVA_INT, 0, n);
    FloatTiles.combine(op, a, b, n);
    round(odd, n);
    merge(even, odd, aPairs, n);
  }

  private void divide(float divisor, int n) {
    widenEven(aPairs, even, n);
    MemorySegment.copy(even, 0, aBytes, JAVA_INT, 0, n);
    FloatTiles.quotient(a, divisor, n);
    round(even, n);
    widenOdd(aPairs, odd, n);
    MemorySegment.copy(odd, 0, aBytes, JAVA_INT, 0, n);
    FloatTiles.quotient(a, divisor, n);
    round(odd, n);
    merge(even, odd, aPairs, n);
  }

  /// Copies the bits of the values in `a` to `bits` and rounds their upper halves, as
  /// `HalfPrecision.toBfloat16` does.
  private void round(int[] bits, int n) {
    MemorySegment.copy(aBytes, JAVA_INT, 0, bits, 0, n);
    FloatTiles.canonical(bits, n);
    for (int i = 0; i < n; i++) {
      bits[i] += 0x7fff + ((bits[i] >>> 16) & 1);
    }
  }

  private static void widenEven(int[] pairs, int[] bits, int n) {
    for (int i = 0; i < n; i++) {
      bits[i] = pairs[i] << 16;
    }
  }

  private static void widenOdd(int[] pairs, int[] bits, int n) {
    for (int i = 0; i < n; i++) {
      bits[i] = pairs[i] & UPPER_HALF;
    }
  }

  private static void merge(int[] even, int[] odd, int[] pairs, int n) {
    for (int i = 0; i < n; i++) {
      pairs[i] = (even[i] >>> 16) | (odd[i] & UPPER_HALF);
    }
  }
}
