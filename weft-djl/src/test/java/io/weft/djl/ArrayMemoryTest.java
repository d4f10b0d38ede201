// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ArrayMemoryTest {

  @BeforeAll
  static void loadPyTorch() {
    var unused = PyTorch.load();
  }

  @Test
  void viewSharesThePyTorchMemory() {
    try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
      NDArray array = manager.create(new float[] {1, 2, 3, 4, 5, 6}, new Shape(2, 3));
      TensorView view = ArrayMemory.of("array", array);
      assertThat(view.signature()).isEqualTo("FLOAT32[2, 3]");
      assertThat(array.toFloatArray()).containsExactly(1, 2, 3, 4, 5, 6);
      view.data().setAtIndex(ValueLayout.JAVA_FLOAT, 4, 9);
      assertThat(array.getFloat(1, 1)).isEqualTo(9);
    }
  }

  @Test
  void arrayThatIsNotContiguousIsRefused() {
    try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
      NDArray array = manager.create(new float[] {1, 2, 3, 4, 5, 6}, new Shape(2, 3));
      assertThatThrownBy(() -> ArrayMemory.of("the gradient of 'x'", array.transpose()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the gradient of 'x' is not contiguous");
    }
  }

  @Test
  void typeThatWeftDoesNotCarryIsRefused() {
    try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
      NDArray array = manager.create(new boolean[] {true, false});
      assertThatThrownBy(() -> ArrayMemory.of("parameter 'x'", array))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("parameter 'x' is of type boolean");
    }
  }
}
