// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import io.weft.djl.PyTorch;
import io.weft.workloads.text.Characters;
import io.weft.workloads.training.TrainingException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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

  /// DJL multiplies by a number in memory of Java that it may free before the backward pass.
  @Test
  void gradientsDoNotDependOnTheGarbageCollector() {
    try (NDManager manager = NDManager.newBaseManager(null, PyTorch.ENGINE)) {
      var block = new GptBlock(Characters.COUNT);
      block.initialize(manager, DataType.FLOAT32, new Shape(1, CONTEXT));
      float[] expected = gradient(manager, block, () -> {});
      for (int i = 0; i < 5; i++) {
        float[] found = gradient(manager, block, GptBlockTest::reuseFreedMemory);
        int at = Arrays.mismatch(found, expected);
        assertThat(at).as("the first element of the gradient that differs").isEqualTo(-1);
      }
    }
  }

  private static float[] gradient(NDManager manager, GptBlock block, Runnable between) {
    try (NDManager own = manager.newSubManager();
        GradientCollector collector = PyTorch.load().newGradientCollector()) {
      NDArray input = own.create(new long[] {1, 2, 3, 4, 5, 6, 7, 8}, new Shape(1, CONTEXT));
      NDArray scores =
          block.forward(new ParameterStore(own, false), new NDList(input), true).singletonOrThrow();
      NDArray loss = scores.square().sum();
      between.run();
      collector.backward(loss);
      try (NDArray gradient = block.getParameters().get("characters").getArray().getGradient()) {
        float[] values = gradient.toFloatArray();
        block.getParameters().values().forEach(each -> each.getArray().getGradient().muli(0));
        return values;
      }
    }
  }

  private static void reuseFreedMemory() {
    System.gc();
    for (int i = 0; i < 2000; i++) {
      ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder()).putFloat(0, 1e9f);
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
