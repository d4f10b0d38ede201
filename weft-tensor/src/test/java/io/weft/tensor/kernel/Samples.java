// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.tensor.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/// Random bits in native memory, a quarter of them special: NaNs with payloads, infinities, zeros
/// of both signs, subnormals, extremes.
final class Samples {

  private static final int[] SPECIAL_16 = {
    0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01,
    0xfc01, 0x7e00, 0xfe55, 0x7fff, 0x3f80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc1, 0x0080
  };
  private static final int[] SPECIAL_32 = {
    0,
    0x80000000,
    1,
    0x80000001,
    0x007fffff,
    0x00800000,
    0x3f800000,
    0xbf800000,
    0x7f7fffff,
    0xff7fffff,
    0x7f800000,
    0xff800000,
    0x7f800001,
    0xff800001,
    0x7fc00000,
    0xffc00123,
    0x7fffffff
  };
  private static final long[] SPECIAL_64 = {
    0,
    Long.MIN_VALUE,
    1,
    -1,
    0x000fffffffffffffL,
    0x0010000000000000L,
    0x3ff0000000000000L,
    0x7fefffffffffffffL,
    0xffefffffffffffffL,
    0x7ff0000000000000L,
    0xfff0000000000000L,
    0x7ff0000000000001L,
    0xfff8000000000123L,
    0x7fffffffffffffffL
  };

  private Samples() {}

  /// Returns a segment of `offset + elements * width` bytes whose elements begin at `offset`.
  static MemorySegment of(Arena arena, DType dtype, long offset, int elements, Random random) {
    MemorySegment data = arena.allocate(offset + (long) elements * dtype.bytes(), 64);
    for (int i = 0; i < elements; i++) {
      put(data, dtype, offset + (long) i * dtype.bytes(), random);
    }
    return data;
  }

  private static void put(MemorySegment data, DType dtype, long at, Random random) {
    boolean special = random.nextInt(4) == 0;
    switch (dtype.bytes()) {
      case 1 -> data.set(JAVA_BYTE, at, (byte) random.nextInt());
      case 2 ->
          data.set(
              JAVA_SHORT_UNALIGNED,
              at,
              (short) (special ? SPECIAL_16[random.nextInt(SPECIAL_16.length)] : random.nextInt()));
      case 4 ->
          data.set(
              JAVA_INT_UNALIGNED,
              at,
              special ? SPECIAL_32[random.nextInt(SPECIAL_32.length)] : random.nextInt());
      default ->
          data.set(
              JAVA_LONG_UNALIGNED,
              at,
              special ? SPECIAL_64[random.nextInt(SPECIAL_64.length)] : random.nextLong());
    }
  }

  /// Returns a copy in new memory.
  static MemorySegment copy(Arena arena, MemorySegment source) {
    return arena.allocate(source.byteSize(), 64).copyFrom(source);
  }
}
