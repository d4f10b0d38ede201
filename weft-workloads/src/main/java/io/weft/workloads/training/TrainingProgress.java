// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.checkpoint.History;
import java.util.Arrays;

/// The progress of a run on this rank: the steps taken, the epochs completed, and the losses of the
/// steps of the current epoch. Confined to one thread.
final class TrainingProgress {

  private final int stepsPerEpoch;
  private History history = History.NONE;
  private long steps = -1;
  private boolean joined = true;
  private boolean disturbed;
  private double[] lossSums;
  private double[] examples;

  TrainingProgress(int stepsPerEpoch) {
    this.stepsPerEpoch = stepsPerEpoch;
    this.lossSums = new double[stepsPerEpoch];
    this.examples = new double[stepsPerEpoch];
  }

  /// Starts from a model that all ranks have after these epochs.
  void begin(History before) {
    history = before;
    steps = (long) before.accuracies().size() * stepsPerEpoch;
    joined = true;
    clear();
  }

  History history() {
    return history;
  }

  /// Returns the number of completed epochs, tests included.
  int epochs() {
    return history.accuracies().size();
  }

  /// Returns the steps taken since the first epoch, resumed epochs included; -1 before `begin`.
  long steps() {
    return steps;
  }

  /// Returns the next step of the current epoch; `stepsPerEpoch` if all steps are taken.
  int next() {
    return (int) (steps - (long) epochs() * stepsPerEpoch);
  }

  /// Returns whether the ranks have equal models.
  boolean isJoined() {
    return joined;
  }

  /// Records that the ranks have averaged their models.
  void join() {
    joined = true;
  }

  /// Returns whether a rank was lost in the current epoch, so that some losses are unknown.
  boolean isDisturbed() {
    return disturbed;
  }

  /// Records a step.
  ///
  /// @param together true if the ranks have equal models after it
  void step(double lossSum, int count, boolean together) {
    int at = next();
    lossSums[at] = lossSum;
    examples[at] = count;
    steps++;
    joined = together;
  }

  /// Returns the sum of the losses of this rank's examples, for each step of the epoch.
  double[] lossSums() {
    return lossSums.clone();
  }

  /// Returns the number of this rank's examples, for each step of the epoch.
  double[] examples() {
    return examples.clone();
  }

  /// Ends the current epoch.
  void endEpoch(double[] losses, double accuracy) {
    history = history.plus(losses, accuracy);
    clear();
  }

  private void clear() {
    lossSums = new double[stepsPerEpoch];
    examples = new double[stepsPerEpoch];
    disturbed = false;
  }

  /// Returns a number that grows with all progress; the rank with the largest number is ahead.
  long progress() {
    long ended = (long) epochs() * stepsPerEpoch == steps ? 1 : 0;
    return steps < 0 ? -1 : steps * 4 + (joined ? 2 : 0) + ended;
  }

  /// Takes over another rank's progress; `share` is the number of this rank's examples in a batch.
  void follow(long progress, History known, double[] theirSums, double[] theirExamples, int share) {
    if (known.accuracies().size() != epochs()) {
      clear();
    }
    history = known;
    steps = progress / 4;
    joined = progress / 2 % 2 == 1;
    for (int s = 0; s < stepsPerEpoch; s++) {
      if (examples[s] == 0 && theirExamples[s] > 0) {
        lossSums[s] = theirSums[s] / theirExamples[s] * share;
        examples[s] = share;
      }
    }
    Arrays.fill(lossSums, next(), stepsPerEpoch, 0);
    Arrays.fill(examples, next(), stepsPerEpoch, 0);
    disturbed = true;
  }

  /// Records that a rank was lost and that this rank keeps its progress.
  void disturb() {
    disturbed = true;
  }
}
