// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.Weft;
import io.weft.spark.model.ModelFactory;
import io.weft.spark.model.ModelInput;
import io.weft.spark.model.TrainableModel;
import io.weft.spark.model.TrainedModel;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.types.TFloat32;

/// Builds a network of TensorFlow, which the ranks train. Each rank calls `build` once. All ranks
/// must build the same graph. A fitted model can always be saved; see `ModelFactory` for saved
/// estimators.
@FunctionalInterface
public interface NetworkFactory extends ModelFactory {

  /// Adds the network to the graph. Variables may be initialized by `Ops.withInitScope`; the values
  /// of rank 0 then replace those of the other ranks.
  Network build(Graph graph, NetworkInput input);

  @Override
  default TrainableModel create(Weft weft, ModelInput input) {
    return GraphModel.create(this, weft, input);
  }

  @Override
  default TrainedModel trained(Map<String, byte[]> files) {
    return new SavedNetwork(files);
  }

  /// The input of a network.
  ///
  /// @param features the rows of a batch, of shape batch by width
  /// @param labels the labels of the batch, of shape batch; classes are 0, 1, …
  /// @param width the number of features
  /// @param classes the number of classes, or 0 if labels are any numbers
  /// @param seed the seed for initial weights
  record NetworkInput(
      Operand<TFloat32> features, Operand<TFloat32> labels, int width, int classes, long seed) {}

  /// A network.
  ///
  /// @param losses the loss of each row, of shape batch; the estimator multiplies them by the
  ///   weights of the rows and averages them
  /// @param output the output for each row, of shape batch by k. The prediction is the position of
  ///   the greatest of several values, or the single value
  /// @param optimizer the optimizer, which belongs to the graph
  record Network(Operand<TFloat32> losses, Operand<TFloat32> output, Optimizer optimizer) {}
}
