// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

class GradientNormTest {

  private final Arena arena = Arena.ofAuto();

  @Test
  void normIsThatOfAllTensorsTogether() {
    TensorView floats =
        view(DType.FLOAT32, arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 4, 5));
    TensorView doubles = view(DType.FLOAT64, arena.allocateFrom(ValueLayout.JAVA_DOUBLE, 6));
    short half = Float.floatToFloat16(7);
    TensorView halves = view(DType.FLOAT16, arena.allocateFrom(ValueLayout.JAVA_SHORT, half));
    short brain = (short) (Float.floatToIntBits(8) >> Short.SIZE);
    TensorView brains = view(DType.BFLOAT16, arena.allocateFrom(ValueLayout.JAVA_SHORT, brain));
    assertThat(GradientNorm.of(List.of(floats, doubles, halves, brains)))
        .isCloseTo(Math.sqrt(204), within(1e-12));
  }

  @Test
  void normOfALargeTensorDoesNotOverflow() {
    TensorView large =
        view(DType.FLOAT32, arena.allocateFrom(ValueLayout.JAVA_FLOAT, 3e38f, 3e38f));
    assertThat(GradientNorm.of(List.of(large))).isCloseTo(3e38 * Math.sqrt(2), within(1e32));
  }

  @Test
  void normOfIntegersIsRefused() {
    TensorView whole = view(DType.INT32, arena.allocateFrom(ValueLayout.JAVA_INT, 3));
    assertThatThrownBy(() -> GradientNorm.of(List.of(whole)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("INT32");
  }

  private static TensorView view(DType type, MemorySegment data) {
    return new TensorView(type, Shape.of(data.byteSize() / type.bytes()), data);
  }
}
