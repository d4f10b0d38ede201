// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;

/// Loops on heap tiles that scale floating elements, convert them between binary32 and the 16-bit
/// types, and find elements that are not finite. `HeapTile` explains the use of heap tiles.
final class ElementwiseTiles {

  /// Elements per tile: 16 KiB of the widest type.
  private static final int TILE = 2048;

  private static final ThreadLocal<ElementwiseTiles> TILES =
      ThreadLocal.withInitial(ElementwiseTiles::new);

  private final short[] shorts = new short[TILE];
  private final float[] floats = new float[TILE];
  private final double[] doubles = new double[TILE];
  private final int[] magnitudes = new int[TILE];

  private ElementwiseTiles() {}

  static void scale(TensorView from, TensorView into, double factor) {
    requireSameShape(from, into);
    if (from.dtype() != into.dtype() || !from.dtype().floating()) {
      throw new IllegalArgumentException(
          "scale " + from.signature() + " into " + into.signature() + ": one floating type only");
    }
    ElementwiseTiles tile = TILES.get();
    long elements = from.shape().elements();
    for (long i = 0; i < elements; i += TILE) {
      int n = (int) Math.min(TILE, elements - i);
      if (from.dtype() == DType.FLOAT64) {
        tile.scaleDoubles(from.data(), into.data(), i, n, factor);
      } else {
        tile.load(from, i, n);
        scale(tile.floats, (float) factor, n);
        tile.store(into, i, n);
      }
    }
  }

  static void convert(TensorView from, TensorView into, float factor) {
    requireSameShape(from, into);
    requireConvertible(from);
    requireConvertible(into);
    ElementwiseTiles tile = TILES.get();
    long elements = from.shape().elements();
    for (long i = 0; i < elements; i += TILE) {
      int n = (int) Math.min(TILE, elements - i);
      tile.load(from, i, n);
      if (factor != 1) {
        scale(tile.floats, factor, n);
      }
      tile.store(into, i, n);
    }
  }

  static long firstNotFinite(TensorView tensor) {
    requireConvertible(tensor);
    ElementwiseTiles tile = TILES.get();
    long elements = tensor.shape().elements();
    for (long i = 0; i < elements; i += TILE) {
      int n = (int) Math.min(TILE, elements - i);
      int infinite = tile.loadMagnitudes(tensor, i, n);
      if (largest(tile.magnitudes, n) >= infinite) {
        int at = 0;
        while (tile.magnitudes[at] < infinite) {
          at++;
        }
        return i + at;
      }
    }
    return -1;
  }

  /// Reads the bits of elements without their signs. Returns the bits of infinity.
  private int loadMagnitudes(TensorView from, long first, int n) {
    if (from.dtype() == DType.FLOAT32) {
      MemorySegment.copy(from.data(), JAVA_INT_UNALIGNED, first * 4, magnitudes, 0, n);
      withoutSigns(magnitudes, n);
      return 0x7F80_0000;
    }
    MemorySegment.copy(from.data(), JAVA_SHORT_UNALIGNED, first * 2, shorts, 0, n);
    withoutSigns(shorts, magnitudes, n);
    return from.dtype() == DType.FLOAT16 ? 0x7C00 : 0x7F80;
  }

  private static void requireSameShape(TensorView from, TensorView into) {
    if (!from.shape().equals(into.shape())) {
      throw new IllegalArgumentException(
          from.signature() + " has another shape than " + into.signature());
    }
  }

  private static void requireConvertible(TensorView tensor) {
    switch (tensor.dtype()) {
      case FLOAT16, BFLOAT16, FLOAT32 -> {}
      case FLOAT64, UINT8, INT8, INT32, INT64 ->
          throw new IllegalArgumentException(
              tensor.signature() + " is not converted; FLOAT32, FLOAT16 and BFLOAT16 are");
    }
  }

  private void scaleDoubles(
      MemorySegment from, MemorySegment into, long first, int n, double factor) {
    MemorySegment.copy(from, JAVA_DOUBLE_UNALIGNED, first * 8, doubles, 0, n);
    for (int i = 0; i < n; i++) {
      doubles[i] *= factor;
    }
    MemorySegment.copy(doubles, 0, into, JAVA_DOUBLE_UNALIGNED, first * 8, n);
  }

  private void load(TensorView from, long first, int n) {
    if (from.dtype() == DType.FLOAT32) {
      MemorySegment.copy(from.data(), JAVA_FLOAT_UNALIGNED, first * 4, floats, 0, n);
      return;
    }
    MemorySegment.copy(from.data(), JAVA_SHORT_UNALIGNED, first * 2, shorts, 0, n);
    if (from.dtype() == DType.FLOAT16) {
      fromBinary16(shorts, floats, n);
    } else {
      fromBfloat16(shorts, floats, n);
    }
  }

  private void store(TensorView into, long first, int n) {
    if (into.dtype() == DType.FLOAT32) {
      MemorySegment.copy(floats, 0, into.data(), JAVA_FLOAT_UNALIGNED, first * 4, n);
      return;
    }
    if (into.dtype() == DType.FLOAT16) {
      toBinary16(floats, shorts, n);
    } else {
      toBfloat16(floats, shorts, n);
    }
    MemorySegment.copy(shorts, 0, into.data(), JAVA_SHORT_UNALIGNED, first * 2, n);
  }

  // Each loop is a separate method, because the JIT then vectorises each one.

  private static void scale(float[] values, float factor, int n) {
    for (int i = 0; i < n; i++) {
      values[i] *= factor;
    }
  }

  private static void fromBinary16(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.float16ToFloat(from[i]);
    }
  }

  private static void fromBfloat16(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = HalfPrecision.fromBfloat16(from[i]);
    }
  }

  private static void toBinary16(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = HalfPrecision.toBinary16(from[i]);
    }
  }

  private static void toBfloat16(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = HalfPrecision.toBfloat16(from[i]);
    }
  }

  private static void withoutSigns(int[] bits, int n) {
    for (int i = 0; i < n; i++) {
      bits[i] &= 0x7FFF_FFFF;
    }
  }

  private static void withoutSigns(short[] from, int[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = from[i] & 0x7FFF;
    }
  }

  private static int largest(int[] values, int n) {
    int most = 0;
    for (int i = 0; i < n; i++) {
      most = Math.max(most, values[i]);
    }
    return most;
  }
}
