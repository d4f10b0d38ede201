// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.checkpoint.History;
import java.util.Arrays;

/// How far a run has come on this rank: steps taken, epochs ended, and what the steps of the epoch
/// under way lost. One thread.
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

  /// The model is what it is after these epochs, on all ranks.
  void begin(History before) {
    history = before;
    steps = (long) before.accuracies().size() * stepsPerEpoch;
    joined = true;
    clear();
  }

  History history() {
    return history;
  }

  /// Epochs that have ended, test included.
  int epochs() {
    return history.accuracies().size();
  }

  /// Steps taken since the first epoch, resumed ones included; -1 before `begin`.
  long steps() {
    return steps;
  }

  /// Step of the epoch under way to be taken next; `stepsPerEpoch` if all are.
  int next() {
    return (int) (steps - (long) epochs() * stepsPerEpoch);
  }

  /// Whether the ranks have the same model.
  boolean isJoined() {
    return joined;
  }

  /// The ranks have averaged their models.
  void join() {
    joined = true;
  }

  /// Whether a rank was lost in the epoch under way, whose losses are not known entirely.
  boolean isDisturbed() {
    return disturbed;
  }

  /// A step is taken.
  ///
  /// @param together whether the ranks have the same model after it
  void step(double lossSum, int count, boolean together) {
    int at = next();
    lossSums[at] = lossSum;
    examples[at] = count;
    steps++;
    joined = together;
  }

  /// What the examples that this rank saw in each step of the epoch lost, summed.
  double[] lossSums() {
    return lossSums.clone();
  }

  /// How many they were.
  double[] examples() {
    return examples.clone();
  }

  /// The epoch under way has ended.
  void endEpoch(double[] losses, double accuracy) {
    history = history.plus(losses, accuracy);
    clear();
  }

  private void clear() {
    lossSums = new double[stepsPerEpoch];
    examples = new double[stepsPerEpoch];
    disturbed = false;
  }

  /// Grows with everything that is done: of two ranks the one with more has come further.
  long progress() {
    long ended = (long) epochs() * stepsPerEpoch == steps ? 1 : 0;
    return steps < 0 ? -1 : steps * 4 + (joined ? 2 : 0) + ended;
  }

  /// Goes on from where another rank is; `share` is this rank's part of a batch.
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

  /// A rank was lost; this one goes on from where it is.
  void disturb() {
    disturbed = true;
  }
}
