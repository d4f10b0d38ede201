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

class FirstNotFiniteTest {

  private static final float[] BAD = {
    Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -Float.NaN
  };

  private static OwnedTensor of(DType type, int count, int at, float bad) {
    OwnedTensor tensor = OwnedTensor.allocate(type, Shape.of(count));
    try (OwnedTensor floats = OwnedTensor.allocate(DType.FLOAT32, Shape.of(count))) {
      for (int i = 0; i < count; i++) {
        floats.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, i, i % 2 == 0 ? 65504f : -1e-7f);
      }
      if (at >= 0) {
        floats.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, at, bad);
      }
      Kernels.convert(floats.view(), tensor.view());
    }
    return tensor;
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "BFLOAT16", "FLOAT32"})
  void theFirstNonFiniteElementIsFoundAmongFiniteOnes(DType type) {
    for (int count : new int[] {0, 1, 2048, 5000}) {
      try (OwnedTensor good = of(type, count, -1, 0)) {
        assertThat(Kernels.firstNotFinite(good.view())).as("%d elements", count).isEqualTo(-1);
      }
    }
    for (int at : new int[] {0, 1, 2047, 2048, 4999}) {
      for (float bad : BAD) {
        try (OwnedTensor tensor = of(type, 5000, at, bad)) {
          assertThat(Kernels.firstNotFinite(tensor.view())).as("%s", bad).isEqualTo(at);
        }
      }
    }
  }

  @Test
  void valuesBeyondTheNarrowTypeBecomeInfinite() {
    try (OwnedTensor half = of(DType.FLOAT16, 10, 3, 70000f);
        OwnedTensor bfloat = of(DType.BFLOAT16, 10, 3, Float.MAX_VALUE)) {
      assertThat(Kernels.firstNotFinite(half.view())).isEqualTo(3);
      assertThat(Kernels.firstNotFinite(bfloat.view())).isEqualTo(3);
    }
  }

  @Test
  void aFactorIsMultipliedBeforeTheConversion() {
    try (OwnedTensor large = of(DType.FLOAT32, 10, 3, 70000f);
        OwnedTensor half = OwnedTensor.allocate(DType.FLOAT16, Shape.of(10));
        OwnedTensor back = OwnedTensor.allocate(DType.FLOAT32, Shape.of(10))) {
      Kernels.convert(large.view(), half.view(), 0.5);
      assertThat(Kernels.firstNotFinite(half.view())).isEqualTo(-1);
      Kernels.convert(half.view(), back.view(), 2);
      assertThat(back.view().data().getAtIndex(ValueLayout.JAVA_FLOAT, 3)).isEqualTo(70016f);
    }
  }

  @Test
  void integersAreRefused() {
    try (OwnedTensor whole = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
      assertThatIllegalArgumentException().isThrownBy(() -> Kernels.firstNotFinite(whole.view()));
    }
  }
}
