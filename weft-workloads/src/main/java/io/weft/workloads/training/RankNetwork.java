// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import java.util.Optional;
import java.util.OptionalLong;

/// A network of one rank or worker, with a fixed number of examples in a step. Confined to one
/// thread.
public interface RankNetwork extends AutoCloseable {

  /// Returns the number of weights and biases.
  long parameters();

  /// Takes a step on this rank's examples from `order[from]` on. Returns the loss, summed over
  /// these examples.
  ///
  /// @param scale the factor by which the gradients of the sum are multiplied
  double step(int[] order, int from, float scale) throws InterruptedException;

  /// Returns the time at which the step submitted its last gradient to a data-parallel layer; empty
  /// without a layer.
  default OptionalLong submittedNanos() {
    return OptionalLong.empty();
  }

  /// Makes the weights of all ranks equal, if steps do not. Collective.
  default void synchronize() {}

  /// Returns the number of outer steps of local SGD; empty for other kinds of training.
  default OptionalLong outerSteps() {
    return OptionalLong.empty();
  }

  /// Returns a line of text that the network writes; empty unless it is a language model.
  default Optional<String> sample() {
    return Optional.empty();
  }

  /// Evaluates examples without training on them.
  Evaluation evaluate(Examples examples) throws InterruptedException;

  /// Returns a fingerprint of the weights of the dense layers.
  String digest();

  @Override
  void close();

  /// A maker of a rank's network.
  @FunctionalInterface
  interface Factory {

    /// Returns the network of this rank, with the weights of rank 0. Collective.
    ///
    /// @param mine the examples of this rank
    /// @param width examples of this rank in a step
    RankNetwork network(TrainingSettings settings, Examples mine, int width, TrainingJob job);
  }
}
