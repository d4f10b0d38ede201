// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.metrics.Goodput;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/// What a training run came to.
///
/// @param dataset what it was trained on
/// @param losses of each global batch since the first epoch, resumed ones included
/// @param accuracies on the test set after each epoch
/// @param auc on the test set at the end, where the workload is judged by it
/// @param finalLoss mean over the last 50 steps
/// @param digests of the weights, by rank
/// @param timing of the steps of this run
/// @param bytesSent by all ranks that are left
/// @param bytesPerStep what they sent in a step of this run; empty where it is not known
/// @param shrinks in order of time; empty if no rank was lost
/// @param outerSteps of local SGD; empty where it was another training
/// @param goodput where the time of the job went; empty where it is not known
/// @param optimizerBytes of the optimizer's state on the lowest rank; empty where it is not known
public record TrainingOutcome(
    String dataset,
    List<Double> losses,
    List<Double> accuracies,
    OptionalDouble auc,
    double finalLoss,
    List<String> digests,
    Timing timing,
    long bytesSent,
    OptionalDouble bytesPerStep,
    List<Shrink> shrinks,
    OptionalLong outerSteps,
    Optional<Goodput> goodput,
    OptionalLong optimizerBytes) {

  /// Copies the lists.
  public TrainingOutcome {
    losses = List.copyOf(losses);
    accuracies = List.copyOf(accuracies);
    digests = List.copyOf(digests);
    shrinks = List.copyOf(shrinks);
  }
}
