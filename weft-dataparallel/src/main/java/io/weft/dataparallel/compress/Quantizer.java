// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// Numbers of 8 or 4 bits for FLOAT32, block by block: a FLOAT32 scale, then the whole numbers by
/// which it is multiplied, of -127 to 127 or -7 to 7. Of 4 bits two share a byte, the lower half
/// first. The scale is the largest magnitude of the block over the largest whole number; a block
/// with nothing above 2^-100 has the scale 0. Rounds to nearest, ties to even. The same bits on
/// every machine. Stateless; any thread.
///
/// @param bits 8 or 4
record Quantizer(int bits) {

  /// Elements with one scale.
  static final int BLOCK = 1024;

  private static final float LEAST = 0x1p-100f;

  /// 1.5 times 2^23: a float of smaller magnitude that is added to it has its fraction rounded off.
  private static final float ROUND = 0x1.8p23f;

  private static final ThreadLocal<Tiles> TILES = ThreadLocal.withInitial(Tiles::new);

  /// Memory of one block, in the heap, where the JIT compiles loops to vectors.
  private static final class Tiles {
    private final float[] values = new float[BLOCK];
    private final float[] residual = new float[BLOCK];
    private final byte[] numbers = new byte[BLOCK];
  }

  /// Length of so many elements in bytes, from the start of a block.
  long bytes(long elements) {
    return Math.ceilDiv(elements, BLOCK) * Float.BYTES + Math.ceilDiv(elements * bits, 8);
  }

  private int largest() {
    return bits == 8 ? 127 : 7;
  }

  /// Quantizes `values` plus `residual` and writes what that leaves out to `left`. Returns the
  /// place of the first sum that is NaN or infinite, from 0, and has written nothing of use then;
  /// or -1.
  ///
  /// Hot path.
  ///
  /// @param values FLOAT32; `left` may not be the same memory
  /// @param residual of the same length
  /// @param left of the same length
  /// @param elements of all three
  /// @param into from `offset`, `bytes(elements)` long
  long quantize(
      MemorySegment values,
      MemorySegment residual,
      MemorySegment left,
      long elements,
      MemorySegment into,
      long offset) {
    Tiles tiles = TILES.get();
    long at = offset;
    for (long first = 0; first < elements; first += BLOCK) {
      int n = (int) Math.min(BLOCK, elements - first);
      MemorySegment.copy(values, JAVA_FLOAT_UNALIGNED, first * 4, tiles.values, 0, n);
      MemorySegment.copy(residual, JAVA_FLOAT_UNALIGNED, first * 4, tiles.residual, 0, n);
      add(tiles.values, tiles.residual, n);
      float most = magnitude(tiles.values, n);
      if (!(most <= Float.MAX_VALUE)) {
        return first + firstNotFinite(tiles.values, n);
      }
      float scale = scale(most);
      into.set(JAVA_FLOAT_UNALIGNED, at, scale);
      at += Float.BYTES;
      quantize(tiles, scale, n);
      MemorySegment.copy(tiles.values, 0, left, JAVA_FLOAT_UNALIGNED, first * 4, n);
      int bytes = pack(tiles.numbers, n);
      MemorySegment.copy(tiles.numbers, 0, into, JAVA_BYTE, at, bytes);
      at += bytes;
    }
    return -1;
  }

  private float scale(float most) {
    if (most < LEAST) {
      return 0;
    }
    float scale = most / largest();
    return scale * largest() <= Float.MAX_VALUE ? scale : Math.nextDown(scale);
  }

  private static void add(float[] values, float[] others, int n) {
    for (int i = 0; i < n; i++) {
      values[i] += others[i];
    }
  }

  private static float magnitude(float[] values, int n) {
    float most = 0;
    for (int i = 0; i < n; i++) {
      most = Math.max(most, Math.abs(values[i])); // of a NaN, NaN
    }
    return most;
  }

  private static int firstNotFinite(float[] values, int n) {
    for (int i = 0; i < n; i++) {
      if (!Float.isFinite(values[i])) {
        return i;
      }
    }
    throw new IllegalStateException("a block is not finite, but all its elements are");
  }

  /// Leaves in `values` what is left out.
  private static void quantize(Tiles tiles, float scale, int n) {
    float[] values = tiles.values;
    byte[] numbers = tiles.numbers;
    float inverse = scale == 0 ? 0 : 1 / scale;
    for (int i = 0; i < n; i++) {
      float number = (values[i] * inverse + ROUND) - ROUND;
      numbers[i] = (byte) (int) number;
      values[i] -= number * scale;
    }
  }

  /// Returns how many bytes of `numbers` there are then.
  private int pack(byte[] numbers, int n) {
    if (bits == 8) {
      return n;
    }
    int pairs = n / 2;
    for (int i = 0; i < pairs; i++) {
      numbers[i] = (byte) ((numbers[2 * i] & 15) | (numbers[2 * i + 1] << 4));
    }
    if (n % 2 == 1) {
      numbers[pairs] = (byte) (numbers[n - 1] & 15);
    }
    return (n + 1) / 2;
  }

  /// What is done with the numbers that are read.
  enum Into {
    /// They are written.
    COPY,
    /// They are added to what is there.
    SUM
  }

  /// Reads what `quantize` has written.
  ///
  /// Hot path.
  ///
  /// @param from from `offset`, `bytes(elements)` long
  /// @param values FLOAT32, from element `start`
  void dequantize(
      MemorySegment from, long offset, MemorySegment values, long start, long elements, Into how) {
    Tiles tiles = TILES.get();
    long at = offset;
    for (long first = 0; first < elements; first += BLOCK) {
      int n = (int) Math.min(BLOCK, elements - first);
      float scale = from.get(JAVA_FLOAT_UNALIGNED, at);
      at += Float.BYTES;
      int bytes = (n * bits + 7) / 8;
      MemorySegment.copy(from, JAVA_BYTE, at, tiles.numbers, 0, bytes);
      at += bytes;
      if (bits == 4) {
        unpack(tiles.numbers, n);
      }
      long place = (start + first) * Float.BYTES;
      multiply(tiles.numbers, scale, tiles.values, n);
      if (how == Into.SUM) {
        MemorySegment.copy(values, JAVA_FLOAT_UNALIGNED, place, tiles.residual, 0, n);
        add(tiles.values, tiles.residual, n);
      }
      MemorySegment.copy(tiles.values, 0, values, JAVA_FLOAT_UNALIGNED, place, n);
    }
  }

  private static void multiply(byte[] numbers, float scale, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = numbers[i] * scale;
    }
  }

  /// From the end, since the halves lie before what becomes of them.
  private static void unpack(byte[] numbers, int n) {
    for (int i = n - 1; i >= 0; i--) {
      int pair = numbers[i / 2];
      numbers[i] = (byte) (i % 2 == 0 ? (pair << 28) >> 28 : pair >> 4);
    }
  }
}
