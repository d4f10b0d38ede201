// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.djl;

import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.weft.spark.model.ModelInput;
import java.io.Serial;

/// A network with a hidden layer.
public final class TwoLayers implements BlockFactory {

  @Serial private static final long serialVersionUID = 1L;

  private final int hidden;

  /// @param settings the number of hidden units, or 0 for a block without parameters
  public TwoLayers(String settings) {
    hidden = Integer.parseInt(settings);
  }

  @Override
  public String settings() {
    return Integer.toString(hidden);
  }

  @Override
  public Block block(ModelInput input) {
    SequentialBlock block = new SequentialBlock();
    return hidden == 0
        ? block.add(Activation::relu)
        : block
            .add(Linear.builder().setUnits(hidden).build())
            .add(Activation::relu)
            .add(Linear.builder().setUnits(Math.max(1, input.classes())).build());
  }

  @Override
  public Optimizer optimizer() {
    return Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.2f)).build();
  }
}
