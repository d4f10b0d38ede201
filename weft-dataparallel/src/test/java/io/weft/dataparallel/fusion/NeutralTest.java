// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class NeutralTest {

  private static final int ELEMENTS = 64;

  static Stream<Arguments> all() {
    return Stream.of(DType.values())
        .flatMap(dtype -> Stream.of(ReduceOp.values()).map(op -> Arguments.of(dtype, op)));
  }

  @ParameterizedTest
  @MethodSource("all")
  void neutralElementsChangeNothing(DType dtype, ReduceOp op) {
    MemorySegment values = Arena.ofAuto().allocate((long) ELEMENTS * dtype.bytes(), 64);
    Random random = new Random(5);
    for (long e = 0; e < ELEMENTS; e++) {
      int value = random.nextInt(100);
      long at = e * dtype.bytes();
      switch (dtype) {
        case FLOAT16 -> values.set(ValueLayout.JAVA_SHORT, at, Float.floatToFloat16(value));
        case BFLOAT16 ->
            values.set(ValueLayout.JAVA_SHORT, at, (short) (Float.floatToIntBits(value) >>> 16));
        case FLOAT32 -> values.set(ValueLayout.JAVA_FLOAT, at, value);
        case FLOAT64 -> values.set(ValueLayout.JAVA_DOUBLE, at, value);
        case UINT8, INT8 -> values.set(ValueLayout.JAVA_BYTE, at, (byte) value);
        case INT32 -> values.set(ValueLayout.JAVA_INT, at, value);
        case INT64 -> values.set(ValueLayout.JAVA_LONG, at, value);
      }
    }
    MemorySegment neutral = Arena.ofAuto().allocate(values.byteSize(), 64);
    Neutral.fill(neutral, dtype, op);
    MemorySegment combined = Arena.ofAuto().allocate(values.byteSize(), 64);
    Kernels.reducer(dtype, op).combine(combined, 0, values, 0, neutral, 0, ELEMENTS);
    assertThat(combined.toArray(ValueLayout.JAVA_BYTE))
        .isEqualTo(values.toArray(ValueLayout.JAVA_BYTE));
  }
}
