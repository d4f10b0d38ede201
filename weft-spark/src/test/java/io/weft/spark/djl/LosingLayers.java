// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.training.optimizer.Optimizer;
import io.weft.comm.CommException;
import io.weft.spark.model.ModelInput;
import java.io.Serial;
import org.apache.spark.TaskContext;

/// The network of `TwoLayers`, whose rank 1 loses its peer in the tenth step of the first attempt.
final class LosingLayers implements BlockFactory {

  private static final int LOST_AT = 10;

  @Serial private static final long serialVersionUID = 1L;

  private final TwoLayers layers = new TwoLayers("8");
  private int steps;

  @Override
  public Block block(ModelInput input) {
    return layers.block(input);
  }

  @Override
  public Optimizer optimizer() {
    return layers.optimizer();
  }

  @Override
  public NDArray losses(NDArray output, NDArray labels, ModelInput input) {
    TaskContext task = TaskContext.get();
    if (task.stageAttemptNumber() == 0 && task.partitionId() == 1 && ++steps == LOST_AT) {
      throw new CommException.PeerLost("as if the executor of rank 0 were lost", 0, null);
    }
    return layers.losses(output, labels, input);
  }
}
