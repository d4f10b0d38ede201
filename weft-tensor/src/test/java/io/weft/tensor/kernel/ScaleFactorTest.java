// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScaleFactorTest {

  @ParameterizedTest
  @ValueSource(
      doubles = {
        0,
        -0.0,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY,
        1e-300,
        1e300,
        Float.MIN_VALUE,
        -1e-40
      })
  void factorsOutsideTheRangeOfFloat32AreRefused(double factor) {
    for (DType type : new DType[] {DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16}) {
      assertThatThrownBy(() -> ScaleFactor.require("allreduce 'g'", type, factor))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("allreduce 'g': a factor of " + factor + " is not possible")
          .hasMessageContaining("FLOAT32");
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE})
  void factorsOutsideTheRangeOfFloat64AreRefused(double factor) {
    assertThatThrownBy(() -> ScaleFactor.require("g", DType.FLOAT64, factor))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("FLOAT64");
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64"})
  void factorsInRangeAreAccepted(DType type) {
    for (double factor : new double[] {1, -2.5, 1e-30, 1e30, Float.MIN_NORMAL, Float.MAX_VALUE}) {
      assertThatCode(() -> ScaleFactor.require("g", type, factor)).doesNotThrowAnyException();
    }
  }

  @Test
  void doublesHaveTheirOwnRange() {
    for (double factor : new double[] {1e-300, -1e300, Double.MIN_NORMAL}) {
      assertThatCode(() -> ScaleFactor.require("g", DType.FLOAT64, factor))
          .doesNotThrowAnyException();
    }
  }
}
