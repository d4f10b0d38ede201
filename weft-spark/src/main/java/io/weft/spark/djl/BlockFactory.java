// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.training.optimizer.Optimizer;
import io.weft.Weft;
import io.weft.spark.model.ModelFactory;
import io.weft.spark.model.ModelInput;
import io.weft.spark.model.TrainableModel;
import io.weft.spark.model.TrainedModel;
import java.io.IOException;
import java.util.Map;

/// Builds a block of DJL, which the ranks train with PyTorch. All ranks must build equal blocks;
/// they start from the values of rank 0. A fitted model can be saved if its factory can; see
/// `ModelFactory`.
///
/// ```java
/// public final class TwoLayers implements BlockFactory {
///   public Block block(ModelInput input) {
///     return new SequentialBlock()
///         .add(Linear.builder().setUnits(100).build())
///         .add(Activation::relu)
///         .add(Linear.builder().setUnits(input.classes()).build());
///   }
///
///   public Optimizer optimizer() {
///     return Optimizer.adam().build();
///   }
/// }
/// ```
public interface BlockFactory extends ModelFactory {

  /// Returns a new block, whose input has shape batch by width. Its output has shape batch by k:
  /// the prediction is the position of the greatest of several values, or the single value.
  Block block(ModelInput input);

  /// Returns a new optimizer.
  Optimizer optimizer();

  /// Returns the loss of each row, of shape batch: the cross entropy of the softmax with classes,
  /// and the square of the error without.
  ///
  /// @param output the output of the block
  /// @param labels the labels, of shape batch; classes are 0, 1, …
  default NDArray losses(NDArray output, NDArray labels, ModelInput input) {
    if (input.classes() == 0) {
      return output.reshape(-1).sub(labels).square();
    }
    NDArray index = labels.toType(DataType.INT64, false).expandDims(1);
    return output.logSoftmax(1).gather(index, 1).reshape(-1).neg();
  }

  @Override
  default TrainableModel create(Weft weft, ModelInput input) throws IOException {
    return BlockModel.create(this, weft, input);
  }

  @Override
  default TrainedModel trained(Map<String, byte[]> files) {
    return new TrainedBlock(this, files);
  }
}
