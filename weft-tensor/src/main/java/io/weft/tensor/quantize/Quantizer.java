// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.quantize;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// A block quantizer of FLOAT32 elements to 8, 4 or 2 bits. Each block is a FLOAT32 scale followed
/// by one whole number per element, of -127 to 127, -7 to 7 or -1 to 1, which is multiplied by the
/// scale. Two numbers of 4 bits, or four of 2 bits, share a byte, the first in the lowest bits. All
/// machines compute equal bits. Stateless; any thread.
///
/// Without a threshold, the scale is the largest magnitude of the block divided by the largest
/// whole number, and values are rounded to nearest, ties to even. A block of magnitudes below
/// 2^-100 has the scale 0. With a threshold, the scale is the threshold: an element of at least the
/// threshold becomes 1, one of at most its negative becomes -1, and any other 0, as in MXNet's
/// 2-bit compression.
///
/// @param bits 8, 4 or 2
/// @param threshold above 0, for 2 bits only; 0 means no threshold
public record Quantizer(int bits, float threshold) {

  /// The number of elements that share a scale.
  public static final int BLOCK = 1024;

  private static final float LEAST = 0x1p-100f;

  /// 1.5 times 2^23. Adding it to a float of smaller magnitude rounds off the fraction.
  private static final float ROUND = 0x1.8p23f;

  private static final ThreadLocal<Tiles> TILES = ThreadLocal.withInitial(Tiles::new);

  /// Heap arrays for one block, because the JIT vectorises loops over them.
  private static final class Tiles {
    private final float[] values = new float[BLOCK];
    private final float[] residual = new float[BLOCK];
    private final byte[] numbers = new byte[BLOCK];
  }

  /// Throws `IllegalArgumentException`, which names the invalid argument.
  public Quantizer {
    if (bits != 8 && bits != 4 && bits != 2) {
      throw new IllegalArgumentException("numbers of 8, 4 or 2 bits, not " + bits);
    }
    if (!(threshold >= 0 && threshold <= Float.MAX_VALUE) || (threshold > 0 && bits != 2)) {
      throw new IllegalArgumentException(
          "threshold %s of %d bits; numbers of 2 bits may have one, above 0"
              .formatted(threshold, bits));
    }
  }

  /// Creates a quantizer without a threshold.
  public Quantizer(int bits) {
    this(bits, 0);
  }

  /// Returns the encoded length in bytes of `elements` elements from the start of a block.
  public long bytes(long elements) {
    return Math.ceilDiv(elements, BLOCK) * Float.BYTES + Math.ceilDiv(elements * bits, 8);
  }

  private int largest() {
    return (1 << (bits - 1)) - 1;
  }

  /// Quantizes `values` plus `residual` and writes the new residual, the quantization error, to
  /// `left`. Returns -1, or the index of the first sum that is NaN or infinite; the contents of
  /// `left` and `into` are then undefined.
  ///
  /// Hot path.
  ///
  /// @param values FLOAT32; must not be the memory of `left`
  /// @param residual FLOAT32, of equal length
  /// @param left FLOAT32, of equal length
  /// @param elements the number of elements of all three
  /// @param into the destination of `bytes(elements)` bytes from `offset`
  public long quantize(
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
      float scale = threshold > 0 ? threshold : scale(most);
      into.set(JAVA_FLOAT_UNALIGNED, at, scale);
      at += Float.BYTES;
      if (threshold > 0) {
        cut(tiles, threshold, n);
      } else {
        quantize(tiles, scale, n);
      }
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
      most = Math.max(most, Math.abs(values[i])); // max propagates NaN
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

  /// Leaves the quantization error in `values`.
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

  /// Leaves the quantization error in `values`.
  private static void cut(Tiles tiles, float threshold, int n) {
    float[] values = tiles.values;
    byte[] numbers = tiles.numbers;
    for (int i = 0; i < n; i++) {
      int number = values[i] >= threshold ? 1 : values[i] <= -threshold ? -1 : 0;
      numbers[i] = (byte) number;
      values[i] -= number * threshold;
    }
  }

  /// Packs the numbers in place and returns the packed length in bytes.
  private int pack(byte[] numbers, int n) {
    return switch (bits) {
      case 8 -> n;
      case 4 -> packPairs(numbers, n);
      default -> packFours(numbers, n);
    };
  }

  private static int packPairs(byte[] numbers, int n) {
    int pairs = n / 2;
    for (int i = 0; i < pairs; i++) {
      numbers[i] = (byte) ((numbers[2 * i] & 15) | (numbers[2 * i + 1] << 4));
    }
    if (n % 2 == 1) {
      numbers[pairs] = (byte) (numbers[n - 1] & 15);
    }
    return (n + 1) / 2;
  }

  private static int packFours(byte[] numbers, int n) {
    int fours = n / 4;
    for (int i = 0; i < fours; i++) {
      int at = 4 * i;
      int low = (numbers[at] & 3) | (numbers[at + 1] & 3) << 2;
      numbers[i] = (byte) (low | (numbers[at + 2] & 3) << 4 | numbers[at + 3] << 6);
    }
    int rest = 0;
    for (int i = n - 1; i >= 4 * fours; i--) {
      rest = rest << 2 | (numbers[i] & 3);
    }
    if (n % 4 > 0) {
      numbers[fours] = (byte) rest;
    }
    return (n + 3) / 4;
  }

  /// The treatment of the destination's former values.
  public enum Into {
    /// The decoded values replace the former values.
    COPY,
    /// The decoded values are added to the former values.
    SUM
  }

  /// Decodes the output of `quantize`.
  ///
  /// Hot path.
  ///
  /// @param from the encoded block sequence, `bytes(elements)` bytes from `offset`
  /// @param values FLOAT32, written from element `start`
  public void dequantize(
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
        unpackPairs(tiles.numbers, n);
      } else if (bits == 2) {
        unpackFours(tiles.numbers, n);
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

  /// Runs from the end, because each packed byte lies before its unpacked numbers.
  private static void unpackPairs(byte[] numbers, int n) {
    for (int i = n - 1; i >= 0; i--) {
      int pair = numbers[i / 2];
      numbers[i] = (byte) (i % 2 == 0 ? (pair << 28) >> 28 : pair >> 4);
    }
  }

  private static void unpackFours(byte[] numbers, int n) {
    for (int i = n - 1; i >= 0; i--) {
      numbers[i] = (byte) (numbers[i / 4] << (30 - 2 * (i % 4)) >> 30);
    }
  }
}
