// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.Shape;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ElementwiseTest {

  private static final float[] VALUES = {
    0f, -0f, 1f, -2.5f, 65504f, 1e30f, 1e-30f, Float.POSITIVE_INFINITY, Float.NaN, 1.00390625f
  };

  private static OwnedTensor floats(int count) {
    OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(count));
    for (int i = 0; i < count; i++) {
      float value = i < VALUES.length ? VALUES[i] : i / 3f;
      tensor.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
    return tensor;
  }

  private static float at(OwnedTensor tensor, int i) {
    return tensor.view().data().getAtIndex(ValueLayout.JAVA_FLOAT, i);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 10, 2047, 2048, 2049, 5000})
  void narrowingAndWideningYieldsTheNearestNarrowValue(int count) {
    try (OwnedTensor from = floats(count);
        OwnedTensor narrow = OwnedTensor.allocate(DType.BFLOAT16, Shape.of(count));
        OwnedTensor half = OwnedTensor.allocate(DType.FLOAT16, Shape.of(count));
        OwnedTensor back = OwnedTensor.allocate(DType.FLOAT32, Shape.of(count))) {
      Kernels.convert(from.view(), narrow.view());
      Kernels.convert(narrow.view(), back.view());
      for (int i = 0; i < count; i++) {
        short bits = HalfPrecision.toBfloat16(at(from, i));
        assertThat(at(back, i)).as("%d", i).isEqualTo((Float) HalfPrecision.fromBfloat16(bits));
      }
      Kernels.convert(from.view(), half.view());
      Kernels.convert(half.view(), back.view());
      for (int i = 0; i < count; i++) {
        short bits = HalfPrecision.toBinary16(at(from, i));
        assertThat(at(back, i)).as("%d", i).isEqualTo((Float) Float.float16ToFloat(bits));
      }
    }
  }

  @Test
  void scalingInPlaceMultipliesEachElement() {
    try (OwnedTensor tensor = floats(5000);
        OwnedTensor same = floats(5000)) {
      Kernels.scale(tensor.view(), tensor.view(), 0.25);
      for (int i = 0; i < 5000; i++) {
        assertThat(at(tensor, i)).as("%d", i).isEqualTo((Float) (at(same, i) * 0.25f));
      }
    }
  }

  @Test
  void doublesAreScaledInTheirOwnPrecision() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT64, Shape.of(3))) {
      tensor.view().data().setAtIndex(ValueLayout.JAVA_DOUBLE, 2, 3);
      Kernels.scale(tensor.view(), tensor.view(), 0.1);
      assertThat(tensor.view().data().getAtIndex(ValueLayout.JAVA_DOUBLE, 2)).isEqualTo(3 * 0.1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UINT8", "INT8", "INT32", "INT64"})
  void integersAreNeitherScaledNorConverted(DType type) {
    try (OwnedTensor whole = OwnedTensor.allocate(type, Shape.of(2));
        OwnedTensor real = OwnedTensor.allocate(DType.FLOAT32, Shape.of(2))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Kernels.scale(whole.view(), whole.view(), 2))
          .withMessageContaining(type + "[2]");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Kernels.convert(whole.view(), real.view()))
          .withMessageContaining(type + "[2]");
    }
  }

  @Test
  void shapesMustBeTheSame() {
    try (OwnedTensor two = floats(2);
        OwnedTensor three = floats(3)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Kernels.convert(two.view(), three.view()))
          .withMessageContaining("FLOAT32[3]");
    }
  }
}
