// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.FLOAT16;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// Binary16 on heap tiles. One loop widens each element to binary32, combines it and rounds it
/// back; the JIT uses the machine's conversion instructions for it. NaNs are made canonical
/// afterwards, while the tile is still in the first-level cache.
final class HalfTiles extends HeapTile<short[]> {

  /// Elements per tile: 4 KiB per operand.
  private static final int TILE = 2048;

  /// The bits of infinity; a larger magnitude is a NaN.
  static final int INFINITY = 0x7c00;

  private static final ThreadLocal<int[]> PAIRS = ThreadLocal.withInitial(() -> new int[TILE / 2]);

  private final Canonical nans;

  private HalfTiles(Canonical nans) {
    super(FLOAT16, new short[TILE], new short[TILE], MemorySegment::ofArray);
    this.nans = nans;
  }

  /// A function that makes the NaNs of a stored tile canonical, in place.
  @FunctionalInterface
  interface Canonical {

    /// Processes `elements` binary16 elements from byte `offset`.
    void apply(MemorySegment data, long offset, int elements);
  }

  /// Returns tiles that apply `nans` after each store.
  static ThreadLocal<HalfTiles> tiles(Canonical nans) {
    return ThreadLocal.withInitial(() -> new HalfTiles(nans));
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
    super.store(into, offset, n);
    nans.apply(into, offset, n);
  }

  /// Makes NaNs canonical on the heap, two elements at a time; an odd last element is handled
  /// alone.
  static void canonical(MemorySegment data, long offset, int elements) {
    int[] pairs = PAIRS.get();
    int n = elements / 2;
    MemorySegment.copy(data, JAVA_INT_UNALIGNED, offset, pairs, 0, n);
    canonical(pairs, n);
    MemorySegment.copy(pairs, 0, data, JAVA_INT_UNALIGNED, offset, n);
    canonicalScalar(data, offset + n * 4L, (elements - n * 2) * 2L);
  }

  /// Makes NaNs in `bytes` bytes canonical, one element at a time.
  static void canonicalScalar(MemorySegment data, long offset, long bytes) {
    for (long i = 0; i < bytes; i += 2) {
      if ((data.get(JAVA_SHORT_UNALIGNED, offset + i) & 0x7fff) > INFINITY) {
        data.set(JAVA_SHORT_UNALIGNED, offset + i, (short) HalfPrecision.NAN_16);
      }
    }
  }

  private static void sum(short[] a, short[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Float.floatToFloat16(Float.float16ToFloat(a[i]) + Float.float16ToFloat(b[i]));
    }
  }

  private static void min(short[] a, short[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Float.floatToFloat16(Math.min(Float.float16ToFloat(a[i]), Float.float16ToFloat(b[i])));
    }
  }

  private static void max(short[] a, short[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Float.floatToFloat16(Math.max(Float.float16ToFloat(a[i]), Float.float16ToFloat(b[i])));
    }
  }

  private static void product(short[] a, short[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Float.floatToFloat16(Float.float16ToFloat(a[i]) * Float.float16ToFloat(b[i]));
    }
  }

  private static void quotient(short[] a, float divisor, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = Float.floatToFloat16(Float.float16ToFloat(a[i]) / divisor);
    }
  }

  /// Replaces the bits of every NaN by the canonical NaN. A magnitude above infinity's makes its
  /// difference negative and its shifted mask all ones.
  private static void canonical(int[] pairs, int n) {
    for (int i = 0; i < n; i++) {
      int even = (INFINITY - (pairs[i] & 0x7fff)) >> 31;
      int odd = (INFINITY - ((pairs[i] >>> 16) & 0x7fff)) >> 31;
      int nan = (even & 0xffff) | (odd << 16);
      pairs[i] = (pairs[i] & ~nan) | ((HalfPrecision.NAN_16 << 16 | HalfPrecision.NAN_16) & nan);
    }
  }
}
