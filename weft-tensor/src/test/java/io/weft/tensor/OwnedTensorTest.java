// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class OwnedTensorTest {

  @Test
  void aNewTensorIsAlignedAndZero() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(5))) {
      assertThat(tensor.view().data().address() % OwnedTensor.ALIGNMENT).isZero();
      assertThat(tensor.view().data().toArray(JAVA_FLOAT)).containsOnly(0f);
      assertThat(tensor).hasToString("FLOAT32[5]");
    }
  }

  @Test
  void aTensorWithoutElementsHasNoBytes() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.INT64, Shape.of(0, 7))) {
      assertThat(tensor.view().bytes()).isZero();
    }
  }

  @Test
  void aCopyHasItsOwnMemory() {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(2));
        OwnedTensor copy = OwnedTensor.copyOf(tensor.view())) {
      tensor.view().data().setAtIndex(JAVA_FLOAT, 0, 1f);
      assertThat(copy.view().data().getAtIndex(JAVA_FLOAT, 0)).isZero();
    }
  }

  @Test
  void aSecondCloseHasNoEffectAndTheViewIsInvalid() {
    OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(2));
    TensorView view = tensor.view();
    tensor.close();
    tensor.close();
    assertThatThrownBy(() -> view.data().getAtIndex(JAVA_FLOAT, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aSizeBeyondLongIsRefused() {
    assertThatThrownBy(() -> OwnedTensor.allocate(DType.FLOAT64, Shape.of(1L << 60)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
