// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks the definition of every operation on bits in hexadecimal.
class ScalarKernelsTest {

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, SUM,     3f800000, 40000000, 40400000",
    "FLOAT32, AVERAGE, 3f800000, 40000000, 40400000",
    "FLOAT32, PRODUCT, 40000000, 40400000, 40c00000",
    "FLOAT32, SUM,     7f800000, ff800000, 7fc00000",
    "FLOAT32, SUM,     ffc00123, 3f800000, 7fc00000",
    "FLOAT32, MIN,     7f800001, 3f800000, 7fc00000",
    "FLOAT32, MAX,     3f800000, ffffffff, 7fc00000",
    "FLOAT32, MIN,     80000000, 00000000, 80000000",
    "FLOAT32, MAX,     80000000, 00000000, 00000000",
    "FLOAT32, SUM,     00000001, 00000001, 00000002",
    "FLOAT64, SUM,     3ff0000000000000, 3ff0000000000000, 4000000000000000",
    "FLOAT64, PRODUCT, 7ff0000000000000, 0000000000000000, 7ff8000000000000",
    "FLOAT64, MIN,     7ff0000000000001, 3ff0000000000000, 7ff8000000000000",
    "FLOAT16, SUM,     3c00, 3c00, 4000",
    "FLOAT16, SUM,     7bff, 7bff, 7c00",
    "FLOAT16, SUM,     6800, 3c00, 6800",
    "FLOAT16, SUM,     6801, 3c00, 6802",
    "FLOAT16, MAX,     fc01, 3c00, 7e00",
    "BFLOAT16, SUM,    3f80, 3f80, 4000",
    "BFLOAT16, SUM,    7f7f, 7f7f, 7f80",
    "BFLOAT16, SUM,    4380, 3f80, 4380",
    "BFLOAT16, SUM,    4381, 3f80, 4382",
    "BFLOAT16, MIN,    ff81, 3f80, 7fc0",
    "UINT8, SUM,       ff, 02, 01",
    "UINT8, MIN,       ff, 02, 02",
    "UINT8, MAX,       ff, 02, ff",
    "UINT8, PRODUCT,   ff, 02, fe",
    "INT8, MIN,        ff, 02, ff",
    "INT8, MAX,        ff, 02, 02",
    "INT32, SUM,       7fffffff, 00000001, 80000000",
    "INT32, PRODUCT,   ffffffff, 00000007, fffffff9",
    "INT64, MIN,       ffffffffffffffff, 0000000000000001, ffffffffffffffff",
    "INT64, PRODUCT,   4000000000000000, 0000000000000004, 0000000000000000"
  })
  void kernelsCombineAsDocumented(DType dtype, ReduceOp op, String a, String b, String expected) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = one(arena, dtype, a);
      Kernels.reference(dtype, op).reduce(into, 0, one(arena, dtype, b), 0, 1);
      assertThat(hex(into, dtype)).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, 3f800000, 3, 3eaaaaab",
    "FLOAT32, ffc00123, 3, 7fc00000",
    "FLOAT64, 3ff0000000000000, 3, 3fd5555555555555",
    "FLOAT16, 3c00, 3, 3555",
    "BFLOAT16, 3f80, 3, 3eab",
    "UINT8, ff, 2, 7f",
    "INT8, ff, 2, 00",
    "INT8, fd, 2, ff",
    "INT32, 80000000, 1, 80000000",
    "INT32, fffffffd, 2, ffffffff",
    "INT64, fffffffffffffffd, 2, ffffffffffffffff"
  })
  void kernelsDivideAsDocumented(DType dtype, String a, int divisor, String expected) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = one(arena, dtype, a);
      new ScalarKernels().divider(dtype).divide(data, 0, 1, divisor);
      assertThat(hex(data, dtype)).isEqualTo(expected);
    }
  }

  @Test
  void everyBfloat16SurvivesWideningAndNarrowing() {
    for (int bits = 0; bits < 0x10000; bits++) {
      float value = HalfPrecision.fromBfloat16((short) bits);
      int expected = Float.isNaN(value) ? 0x7fc0 : bits;
      assertThat(HalfPrecision.toBfloat16(value) & 0xffff).isEqualTo(expected);
    }
  }

  @Test
  void bfloat16RoundsToTheNearestAndTiesToEven() {
    for (int bits = 0; bits < 0x7f80; bits++) {
      int half = bits << 16 | 0x8000;
      int even = bits + (bits & 1);
      assertThat((int) HalfPrecision.toBfloat16(Float.intBitsToFloat(half - 1))).isEqualTo(bits);
      assertThat((int) HalfPrecision.toBfloat16(Float.intBitsToFloat(half))).isEqualTo(even);
      assertThat((int) HalfPrecision.toBfloat16(Float.intBitsToFloat(half + 1)))
          .isEqualTo(bits + 1);
    }
  }

  private static MemorySegment one(Arena arena, DType dtype, String hex) {
    MemorySegment data = arena.allocate(dtype.bytes());
    long bits = Long.parseUnsignedLong(hex, 16);
    switch (dtype.bytes()) {
      case 1 -> data.set(JAVA_BYTE, 0, (byte) bits);
      case 2 -> data.set(JAVA_SHORT_UNALIGNED, 0, (short) bits);
      case 4 -> data.set(JAVA_INT_UNALIGNED, 0, (int) bits);
      default -> data.set(JAVA_LONG_UNALIGNED, 0, bits);
    }
    return data;
  }

  private static String hex(MemorySegment data, DType dtype) {
    return switch (dtype.bytes()) {
      case 1 -> "%02x".formatted(data.get(JAVA_BYTE, 0));
      case 2 -> "%04x".formatted(data.get(JAVA_SHORT_UNALIGNED, 0));
      case 4 -> "%08x".formatted(data.get(JAVA_INT_UNALIGNED, 0));
      default -> "%016x".formatted(data.get(JAVA_LONG_UNALIGNED, 0));
    };
  }
}
