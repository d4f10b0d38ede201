// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

/// Hears how training goes, on the training thread; must be quick.
public interface TrainingObserver {

  /// Hears nothing.
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

  /// What is about to happen.
  ///
  /// @param dataset as the report names it
  /// @param parameters of the network
  /// @param examples in the training set
  /// @param stepsPerEpoch full batches in it
  /// @param epochsDone before this run, by a checkpoint
  record Start(String dataset, long parameters, int examples, int stepsPerEpoch, int epochsDone) {}

  /// After a step.
  ///
  /// @param epoch from 1
  /// @param step in the epoch, from 1
  /// @param loss mean over this rank's slice
  /// @param seconds since this run's first step began
  record TrainedStep(int epoch, int step, double loss, double seconds) {}

  /// After an epoch.
  ///
  /// @param epoch from 1
  /// @param loss mean over the epoch and all ranks; of a worker of parameter servers, its own
  /// @param accuracy on the test set; NaN where it was not tested
  record TrainedEpoch(int epoch, double loss, double accuracy) {}

  /// Data and model are ready.
  void onStart(Start start);

  /// A step is done.
  void onStep(TrainedStep step);

  /// Ranks were lost, and training goes on without them.
  ///
  /// @param why in words
  void onShrink(Shrink shrink, String why);

  /// A checkpoint could not be written; training goes on without it.
  ///
  /// @param why with the file and the reason
  void onUnsaved(String why);

  /// The ranks' weights differ.
  ///
  /// @param what ranks, tensors, steps, and whether they are equal again
  default void onDivergence(String what) {}

  /// An autotuner has found sizes, or took those that were found before.
  ///
  /// @param what they are
  default void onTuned(String what) {}

  /// An epoch is done, and what follows it: test and checkpoint.
  void onEpoch(TrainedEpoch epoch);
}
