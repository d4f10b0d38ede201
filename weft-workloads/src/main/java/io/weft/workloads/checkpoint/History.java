// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import static java.util.stream.Collectors.averagingDouble;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/// The history of a training, which is equal on all ranks.
///
/// @param losses mean training loss of each global batch, from the first step on
/// @param accuracies on the test set, after each epoch
public record History(List<Double> losses, List<Double> accuracies) {

  /// The history before the first step.
  public static final History NONE = new History(List.of(), List.of());

  private static final int FINAL_STEPS = 50;

  /// Copies the lists.
  public History {
    losses = List.copyOf(losses);
    accuracies = List.copyOf(accuracies);
  }

  /// Returns the history with another epoch.
  public History plus(double[] epochLosses, double accuracy) {
    return new History(joined(losses, epochLosses), joined(accuracies, accuracy));
  }

  /// Returns the mean loss of the last 50 steps, or of all steps if there are fewer; NaN without
  /// steps.
  public double finalLoss() {
    int from = Math.max(0, losses.size() - FINAL_STEPS);
    return losses.isEmpty()
        ? Double.NaN
        : losses.subList(from, losses.size()).stream().collect(averagingDouble(loss -> loss));
  }

  private static List<Double> joined(List<Double> first, double... second) {
    return Stream.concat(first.stream(), DoubleStream.of(second).boxed()).toList();
  }
}
