// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.UINT8;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// INT8 and UINT8 on heap tiles. Sums and products have equal bits in both. Flipping the sign bit
/// turns the unsigned order into the signed one.
final class ByteTiles {

  /// Elements per tile: 8 KiB per operand.
  private static final int TILE = 8192;

  private static final ThreadLocal<ByteTiles> TILES = ThreadLocal.withInitial(ByteTiles::new);

  private final byte[] a = new byte[TILE];
  private final byte[] b = new byte[TILE];

  private ByteTiles() {}

  static void reduce(
      DType dtype,
      ReduceOp op,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(dtype, into, at, left, p, right, q, elements);
    int flip = dtype == UINT8 ? 0x80 : 0;
    ByteTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE) {
      int n = (int) Math.min(TILE, bytes - i);
      MemorySegment.copy(left, JAVA_BYTE, p + i, tile.a, 0, n);
      MemorySegment.copy(right, JAVA_BYTE, q + i, tile.b, 0, n);
      switch (op) {
        case SUM, AVERAGE -> sum(tile.a, tile.b, n);
        case MIN -> min(tile.a, tile.b, flip, n);
        case MAX -> max(tile.a, tile.b, flip, n);
        case PRODUCT -> product(tile.a, tile.b, n);
      }
      MemorySegment.copy(tile.a, 0, into, JAVA_BYTE, at + i, n);
    }
  }

  static void divide(DType dtype, MemorySegment data, long p, long elements, int divisor) {
    long bytes = Runs.bytes(dtype, data, p, elements);
    int mask = dtype == UINT8 ? 0xff : -1;
    ByteTiles tile = TILES.get();
    for (long i = 0; i < bytes; i += TILE) {
      int n = (int) Math.min(TILE, bytes - i);
      MemorySegment.copy(data, JAVA_BYTE, p + i, tile.a, 0, n);
      quotient(tile.a, mask, divisor, n);
      MemorySegment.copy(tile.a, 0, data, JAVA_BYTE, p + i, n);
    }
  }

  private static void sum(byte[] a, byte[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (a[i] + b[i]);
    }
  }

  private static void min(byte[] a, byte[] b, int flip, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (Math.min((byte) (a[i] ^ flip), (byte) (b[i] ^ flip)) ^ flip);
    }
  }

  private static void max(byte[] a, byte[] b, int flip, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (Math.max((byte) (a[i] ^ flip), (byte) (b[i] ^ flip)) ^ flip);
    }
  }

  private static void product(byte[] a, byte[] b, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (a[i] * b[i]);
    }
  }

  /// Divides in binary32, which is exact here: a fractional quotient is at least 1 part in 2^8 away
  /// from the next whole number, far more than the rounding of 1 part in 2^24.
  private static void quotient(byte[] a, int mask, float divisor, int n) {
    for (int i = 0; i < n; i++) {
      a[i] = (byte) (int) ((a[i] & mask) / divisor);
    }
  }
}
