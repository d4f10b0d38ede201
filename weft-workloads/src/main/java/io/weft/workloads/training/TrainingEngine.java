// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import java.util.Optional;

/// The model of a training on one rank, which a `TrainingLoop` drives: an exchange of gradients or
/// weights between ranks, a graph on servers, or tables on servers. Confined to one thread.
///
/// Every method throws `CommException` or the exception of its runtime if a rank is lost that this
/// rank needs, and `InterruptedException` if the thread is interrupted while it waits for one.
public interface TrainingEngine {

  /// The point from which a training continues.
  ///
  /// @param epoch the number of completed epochs
  /// @param step the next step of the epoch, from 0
  record Position(int epoch, int step) {

    /// The point before the first step.
    public static final Position FIRST = new Position(0, 0);
  }

  /// A step that this rank took.
  ///
  /// @param loss mean over this rank's examples
  /// @param nanos the duration of the step
  /// @param next the next step, counted from the first step of the same epoch; greater than the
  ///   following step if the other ranks completed steps without this rank
  record Step(double loss, long nanos, int next) {}

  /// Returns the number of weights and biases.
  long parameters();

  /// Sets the model to the newest checkpoint, or to initial weights. Returns the point from which
  /// the training continues. Collective.
  Position restore() throws InterruptedException;

  /// Prepares for the first step after `restore`.
  void begin() throws InterruptedException;

  /// Prepares for the steps of an epoch, counted from 0. Returns false if the training must end
  /// before this epoch.
  boolean beginEpoch(int epoch) throws InterruptedException;

  /// Takes a step of the current epoch. Throws `TrainingException.Diverged`.
  ///
  /// @param step from 0
  /// @param rate the factor of the learning rate
  Step step(int step, float rate) throws InterruptedException;

  /// Ends the current epoch. Returns its results; empty if this rank took none of its steps.
  Optional<TrainingObserver.TrainedEpoch> endEpoch() throws InterruptedException;

  /// Saves the state after an epoch, if the training keeps checkpoints.
  void save() throws InterruptedException;

  /// Waits for the effects of all steps.
  void finish() throws InterruptedException;

  /// Evaluates examples without training on them.
  Evaluation evaluate(Examples examples) throws InterruptedException;

  /// Returns a fingerprint of the weights that this rank knows.
  String digest() throws InterruptedException;

  /// Returns a line of text that the model writes; empty unless it is a language model.
  default Optional<String> sample() {
    return Optional.empty();
  }
}
