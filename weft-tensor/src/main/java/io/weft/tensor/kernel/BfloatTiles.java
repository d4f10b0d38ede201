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
final class BfloatTiles extends HeapTile<int[]> {

  /// Elements per tile: 4 KiB per operand.
  private static final int TILE = 2048;

  private static final int UPPER_HALF = 0xffff0000;
  static final ThreadLocal<BfloatTiles> TILES = ThreadLocal.withInitial(BfloatTiles::new);

  private final int[] even = new int[TILE / 2];
  private final int[] odd = new int[TILE / 2];
  private final float[] left = new float[TILE / 2];
  private final float[] right = new float[TILE / 2];
  private final MemorySegment leftBytes = MemorySegment.ofArray(left);
  private final MemorySegment rightBytes = MemorySegment.ofArray(right);

  private BfloatTiles() {
    super(BFLOAT16, new int[TILE / 2], new int[TILE / 2], MemorySegment::ofArray);
  }

  @Override
  void combine(ReduceOp op, int elements) {
    int n = (elements + 1) / 2;
    widenEven(a, even, n);
    MemorySegment.copy(even, 0, leftBytes, JAVA_INT, 0, n);
    widenEven(b, even, n);
    MemorySegment.copy(even, 0, rightBytes, JAVA_INT, 0, n);
    FloatTiles.combine(op, left, right, n);
    round(even, n);
    widenOdd(a, odd, n);
    MemorySegment.copy(odd, 0, leftBytes, JAVA_INT, 0, n);
    widenOdd(b, odd, n);
    MemorySegment.copy(odd, 0, rightBytes, JAVA_INT, 0, n);
    FloatTiles.combine(op, left, right, n);
    round(odd, n);
    merge(even, odd, a, n);
  }

  @Override
  void divide(int divisor, int elements) {
    int n = (elements + 1) / 2;
    widenEven(a, even, n);
    MemorySegment.copy(even, 0, leftBytes, JAVA_INT, 0, n);
    FloatTiles.quotient(left, divisor, n);
    round(even, n);
    widenOdd(a, odd, n);
    MemorySegment.copy(odd, 0, leftBytes, JAVA_INT, 0, n);
    FloatTiles.quotient(left, divisor, n);
    round(odd, n);
    merge(even, odd, a, n);
  }

  /// Copies the bits of the values in `left` to `bits` and rounds their upper halves, as
  /// `HalfPrecision.toBfloat16` does.
  private void round(int[] bits, int n) {
    MemorySegment.copy(leftBytes, JAVA_INT, 0, bits, 0, n);
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
