// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.ParameterStore;
import io.weft.djl.PyTorch;
import io.weft.workloads.text.Characters;
import io.weft.workloads.training.TrainingException;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class GptBlockTest {

  private static final int CONTEXT = 8;

  @BeforeAll
  static void loadPyTorch() {
    var unused = PyTorch.load();
  }

  @Test
  void aScoreDependsOnNoLaterCharacter() {
    try (NDManager manager = NDManager.newBaseManager(null, PyTorch.ENGINE)) {
      var block = new GptBlock(Characters.COUNT);
      block.initialize(manager, DataType.FLOAT32, new Shape(1, CONTEXT));
      float[] first = scores(manager, block, 1, 2, 3, 4, 5, 6, 7, 8);
      float[] second = scores(manager, block, 1, 2, 3, 4, 5, 99, 7, 8);
      int changed = 5 * Characters.COUNT;
      assertThat(Arrays.copyOf(second, changed)).isEqualTo(Arrays.copyOf(first, changed));
      for (int position = 5; position < CONTEXT; position++) {
        int from = position * Characters.COUNT;
        assertThat(Arrays.copyOfRange(second, from, from + Characters.COUNT))
            .as("scores at position %d", position)
            .isNotEqualTo(Arrays.copyOfRange(first, from, from + Characters.COUNT));
      }
    }
  }

  private static float[] scores(NDManager manager, GptBlock block, long... text) {
    try (NDManager own = manager.newSubManager()) {
      NDArray input = own.create(text, new Shape(1, text.length));
      var store = new ParameterStore(own, false);
      return block.forward(store, new NDList(input), false).singletonOrThrow().toFloatArray();
    }
  }

  @Test
  void aStepThatExceedsTheMemoryOfTheHostIsRefused() {
    long needed = new BatchForm.Text(1024).stepBytes(1 << 20);
    assertThatThrownBy(() -> DjlNetwork.requireMemory(needed, 1 << 20))
        .isInstanceOf(TrainingException.Unfit.class)
        .hasMessageContaining("a step of 1048576 examples on a rank needs about")
        .hasMessageContaining("give a smaller --batch or --context");
    DjlNetwork.requireMemory(new BatchForm.Text(64).stepBytes(16), 16);
  }

  @Test
  void theBlockHasThreeToTenMillionWeights() {
    try (NDManager manager = NDManager.newBaseManager(null, PyTorch.ENGINE)) {
      var block = new GptBlock(Characters.COUNT);
      block.initialize(manager, DataType.FLOAT32, new Shape(1, 64));
      long weights =
          block.getParameters().values().stream().mapToLong(each -> each.getArray().size()).sum();
      assertThat(weights).isBetween(3_000_000L, 10_000_000L);
    }
  }
}
