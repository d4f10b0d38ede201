// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import java.util.List;

/// A listener to the progress of a training, called on the training thread; must be quick.
public interface TrainingObserver {

  /// A listener that does nothing.
  TrainingObserver SILENT =
      new TrainingObserver() {
        @Override
        public void onStart(Start start) {}

        @Override
        public void onStep(TrainedStep step) {}

        @Override
        public void onEpoch(TrainedEpoch epoch) {}

        @Override
        public void onShrink(Shrink shrink, String why) {}

        @Override
        public void onUnsaved(String why) {}
      };

  /// The facts of a training that is about to begin.
  ///
  /// @param dataset as the report names it
  /// @param parameters of the network
  /// @param examples in the training set
  /// @param stepsPerEpoch full batches in the training set
  /// @param epochsDone before this run, by a checkpoint
  record Start(String dataset, long parameters, int examples, int stepsPerEpoch, int epochsDone) {}

  /// A completed step.
  ///
  /// @param epoch from 1
  /// @param step in the epoch, from 1
  /// @param loss mean over this rank's slice
  /// @param seconds the duration of all steps of this run until now, in seconds
  record TrainedStep(int epoch, int step, double loss, double seconds) {}

  /// A completed epoch.
  ///
  /// @param epoch from 1
  /// @param loss mean over the epoch and all ranks; for a worker of parameter servers, its own mean
  /// @param accuracy on the test set; NaN if it was not tested
  record TrainedEpoch(int epoch, double loss, double accuracy) {}

  /// Called when data and model are ready.
  void onStart(Start start);

  /// Called after a step.
  void onStep(TrainedStep step);

  /// Called when training continues without lost ranks.
  ///
  /// @param why the cause of the loss in words
  void onShrink(Shrink shrink, String why);

  /// Called when a checkpoint could not be written; training continues without it.
  ///
  /// @param why the file and the reason
  void onUnsaved(String why);

  /// Called when the ranks' weights differ.
  ///
  /// @param what ranks, tensors, steps, and the outcome of healing
  default void onDivergence(String what) {}

  /// Called when an autotuner has found sizes, or has taken sizes that an earlier run found.
  ///
  /// @param what description of the sizes
  default void onTuned(String what) {}

  /// Called when the ranks have divided the batch again.
  ///
  /// @param step the number of steps before
  /// @param shares the examples of each rank in a step
  default void onBalance(long step, List<Integer> shares) {}

  /// Called after an epoch with its test and checkpoint.
  void onEpoch(TrainedEpoch epoch);
}
