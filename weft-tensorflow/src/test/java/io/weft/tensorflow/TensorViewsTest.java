// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.proto.DataType;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt64;

class TensorViewsTest {

  @Test
  void viewIsTheTensorsOwnMemory() {
    try (TFloat32 tensor = TFloat32.tensorOf(org.tensorflow.ndarray.Shape.of(2, 3))) {
      tensor.setFloat(5, 1, 2);
      TensorView view = TensorViews.of(tensor);
      assertThat(view.signature()).isEqualTo("FLOAT32[2, 3]");
      assertThat(view.data().get(ValueLayout.JAVA_FLOAT, 20)).isEqualTo(5);
      view.data().set(ValueLayout.JAVA_FLOAT, 4, 9);
      assertThat(tensor.getFloat(0, 1)).isEqualTo(9);
    }
  }

  @Test
  void copyHasTheViewsContent() {
    try (TInt64 tensor = TInt64.vectorOf(1, 2, 3);
        TInt64 copy = TensorViews.copyOf(TensorViews.of(tensor), TInt64.class)) {
      tensor.setLong(7, 0);
      assertThat(copy.getLong(0)).isEqualTo(1);
      assertThat(copy.getLong(2)).isEqualTo(3);
      assertThatThrownBy(() -> TensorViews.copyOf(TensorViews.of(tensor), TFloat64.class))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("a INT64[3] does not fit a TFloat64");
    }
  }

  @Test
  void scalarsAndEmptyTensorsHaveViews() {
    try (TFloat32 scalar = TFloat32.scalarOf(3);
        TFloat32 empty = TFloat32.tensorOf(org.tensorflow.ndarray.Shape.of(0, 4))) {
      assertThat(TensorViews.of(scalar).shape()).isEqualTo(Shape.of());
      assertThat(TensorViews.of(empty).bytes()).isZero();
    }
  }

  @Test
  void unsupportedTypeIsNamed() {
    try (TBool tensor = TBool.scalarOf(true)) {
      assertThatThrownBy(() -> TensorViews.of(tensor)).hasMessageContaining("DT_BOOL");
    }
  }

  @ParameterizedTest
  @EnumSource
  void typesMapInBothDirections(DType dtype) {
    assertThat(DataTypes.of(DataTypes.of(dtype))).isEqualTo(dtype);
  }

  @Test
  void referenceTypeMapsToItsElementType() {
    assertThat(DataTypes.of(DataType.DT_FLOAT_REF)).isEqualTo(DType.FLOAT32);
  }
}
