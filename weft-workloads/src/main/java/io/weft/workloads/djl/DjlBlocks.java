// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.pooling.Pool;
import io.weft.workloads.model.Hidden;
import io.weft.workloads.model.Workload;

/// The layers of DJL for a workload, with the sizes of TensorFlow's (`Model`). DJL draws initial
/// weights from a normal distribution of deviation sqrt(2 / inputs), without truncation.
final class DjlBlocks {

  private static final int[] STANDARD = {200, 100};
  private static final int[] ENLARGED = {2048, 1024};
  private static final int[] AFTER_CONVOLUTIONS = {1024};

  private DjlBlocks() {}

  /// Returns the layers. Throws `IllegalArgumentException` for a workload that DJL does not train.
  static Block of(Workload workload, Hidden hidden) {
    boolean enlarged = hidden.size() == Hidden.Size.ENLARGED;
    return switch (workload) {
      case MNIST_DNN, CIFAR10_DNN ->
          dense(new SequentialBlock(), enlarged ? ENLARGED : STANDARD, hidden, workload);
      case MNIST_CNN, CIFAR10_CNN ->
          dense(convolutions(), enlarged ? ENLARGED : AFTER_CONVOLUTIONS, hidden, workload);
      case TINY_GPT -> new GptBlock(workload.classes());
      case ADULT_DNN, ACOUSTIC_DNN, HIGGS_DNN, ALEXNET, WIDE_DEEP ->
          throw new IllegalArgumentException(workload + " with DJL");
    };
  }

  /// Returns the shape of a batch of pictures, whose bytes are in planes of one colour.
  static Shape input(Workload workload, int rows) {
    return switch (workload) {
      case MNIST_CNN -> new Shape(rows, 1, 28, 28);
      case CIFAR10_CNN -> new Shape(rows, 3, 32, 32);
      case MNIST_DNN,
          CIFAR10_DNN,
          ADULT_DNN,
          ACOUSTIC_DNN,
          HIGGS_DNN,
          ALEXNET,
          WIDE_DEEP,
          TINY_GPT ->
          new Shape(rows, workload.features());
    };
  }

  private static SequentialBlock dense(
      SequentialBlock block, int[] units, Hidden hidden, Workload workload) {
    for (int each : units) {
      block.add(Linear.builder().setUnits(each).build());
      switch (hidden.activation()) {
        case RELU -> block.add(Activation::relu);
        case SIGMOID -> block.add(Activation::sigmoid);
      }
    }
    return block.add(Linear.builder().setUnits(workload.classes()).build());
  }

  private static SequentialBlock convolutions() {
    SequentialBlock block = new SequentialBlock();
    for (int filters : new int[] {32, 64}) {
      block
          .add(
              Conv2d.builder()
                  .setKernelShape(new Shape(5, 5))
                  .optPadding(new Shape(2, 2))
                  .setFilters(filters)
                  .build())
          .add(Activation::relu)
          .add(Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2)));
    }
    return block.add(Blocks.batchFlattenBlock());
  }
}
