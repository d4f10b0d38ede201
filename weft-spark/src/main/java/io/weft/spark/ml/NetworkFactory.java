// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import java.io.Serializable;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.types.TFloat32;

/// Builds the network that the ranks train. Spark sends the factory to the executors, where each
/// rank calls `build` once. All ranks must build the same graph.
///
/// An estimator can be saved if its factory is a public class with a public constructor without
/// parameters, or if `settings` is not empty and the class has a public constructor with a single
/// `String`, to which these settings are passed. A fitted model can always be saved.
@FunctionalInterface
public interface NetworkFactory extends Serializable {

  /// Adds the network to the graph. Variables may be initialized by `Ops.withInitScope`; the values
  /// of rank 0 then replace those of the other ranks.
  Network build(Graph graph, NetworkInput input);

  /// Returns the text from which a constructor creates an equal factory, of letters, digits, spaces
  /// and `.,:=_-`; empty by default.
  default String settings() {
    return "";
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
