// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.rate.LearningRateWarmup;
import io.weft.telemetry.metrics.Goodput;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/// The outcome of a training run.
///
/// @param dataset the name of the training data
/// @param losses of each global batch since the first epoch, resumed epochs included
/// @param accuracies on the test set after each epoch
/// @param auc on the test set at the end, if the workload is evaluated by it
/// @param finalLoss mean over the last 50 steps
/// @param digests of the weights, by rank
/// @param timing of the steps of this run
/// @param traffic of all remaining ranks
/// @param shrinks in order of time; empty if no rank was lost
/// @param outerSteps of local SGD; empty for other kinds of training
/// @param goodput the use of the job's time; empty if unknown
/// @param optimizerBytes of the optimizer's state on the lowest rank; empty if unknown
/// @param cost of this run; empty if unknown
/// @param shares the examples of each rank in the last steps; empty unless shares are balanced
/// @param warmup the learning rates; empty unless the rate scales with the ranks
/// @param sample a line that a language model has written on rank 0; empty on other ranks and for
///   other networks
public record TrainingOutcome(
    String dataset,
    List<Double> losses,
    List<Double> accuracies,
    OptionalDouble auc,
    double finalLoss,
    List<String> digests,
    Timing timing,
    Traffic traffic,
    List<Shrink> shrinks,
    OptionalLong outerSteps,
    Optional<Goodput> goodput,
    OptionalLong optimizerBytes,
    Optional<TrainingCost> cost,
    List<Integer> shares,
    Optional<LearningRateWarmup> warmup,
    Optional<String> sample) {

  /// Copies the lists.
  public TrainingOutcome {
    losses = List.copyOf(losses);
    accuracies = List.copyOf(accuracies);
    digests = List.copyOf(digests);
    shrinks = List.copyOf(shrinks);
    shares = List.copyOf(shares);
  }
}
