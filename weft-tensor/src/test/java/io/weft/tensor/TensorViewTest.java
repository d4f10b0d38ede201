// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class TensorViewTest {

  @Test
  void memoryOnTheHeapIsRefused() {
    MemorySegment heap = MemorySegment.ofArray(new float[2]);
    assertThatThrownBy(() -> new TensorView(DType.FLOAT32, Shape.of(2), heap))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("native");
  }

  @Test
  void memoryOfTheWrongLengthIsRefused() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(2, 3))) {
      MemorySegment data = tensor.view().data();
      assertThatThrownBy(() -> new TensorView(DType.FLOAT64, Shape.of(2, 3), data))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("tensor of FLOAT64[2, 3] needs 48 bytes, got 24");
    }
  }

  @Test
  void sizeBeyondLongIsRefused() {
    assertThatThrownBy(() -> TensorView.bytes(DType.FLOAT64, Shape.of(1L << 60)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("tensor of FLOAT64[1152921504606846976] has more than 2^63-1 bytes");
  }

  @Test
  void rowsShareTheMemory() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4, 3))) {
      TensorView rows = tensor.view().rows(1, 2);
      rows.data().setAtIndex(JAVA_FLOAT, 0, 7f);
      assertThat(rows.shape()).isEqualTo(Shape.of(2, 3));
      assertThat(tensor.view().data().getAtIndex(JAVA_FLOAT, 3)).isEqualTo(7f);
    }
  }

  @Test
  void rowsBeyondTheTensorAreRefused() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4, 3))) {
      assertThatThrownBy(() -> tensor.view().rows(3, 2))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void aReshapeMustKeepTheElementCount() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.INT8, Shape.of(4, 3))) {
      assertThat(tensor.view().reshaped(Shape.of(12)).signature()).isEqualTo("INT8[12]");
      assertThatThrownBy(() -> tensor.view().reshaped(Shape.of(11)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("INT8[4, 3] has 12 elements, the shape [11] has 11");
    }
  }
}
