// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static java.util.stream.Collectors.averagingDouble;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/// How training went so far; the same on all ranks.
///
/// @param losses mean training loss of each global batch, from the first step on
/// @param accuracies on the test set, after each epoch
record History(List<Double> losses, List<Double> accuracies) {

  /// Before the first step.
  static final History NONE = new History(List.of(), List.of());

  private static final int FINAL_STEPS = 50;

  /// Copies the lists.
  History {
    losses = List.copyOf(losses);
    accuracies = List.copyOf(accuracies);
  }

  /// With another epoch.
  History plus(double[] epochLosses, double accuracy) {
    return new History(joined(losses, epochLosses), joined(accuracies, accuracy));
  }

  /// Mean loss of the last 50 steps, or of all if there are less.
  double finalLoss() {
    int from = Math.max(0, losses.size() - FINAL_STEPS);
    return losses.subList(from, losses.size()).stream().collect(averagingDouble(loss -> loss));
  }

  /// One rank's history, of these lengths, on all ranks.
  History from(int root, Exchange exchange, int losses, int accuracies) {
    return new History(
        sent(root, exchange, "history/losses", this.losses, losses),
        sent(root, exchange, "history/accuracies", this.accuracies, accuracies));
  }

  private static List<Double> sent(
      int root, Exchange exchange, String what, List<Double> mine, int count) {
    if (count == 0) {
      return List.of();
    }
    double[] numbers = new double[count];
    for (int i = 0; i < Math.min(count, mine.size()); i++) {
      numbers[i] = mine.get(i);
    }
    return DoubleStream.of(exchange.from(root, what, numbers)).boxed().toList();
  }

  private static List<Double> joined(List<Double> first, double... second) {
    return Stream.concat(first.stream(), DoubleStream.of(second).boxed()).toList();
  }
}
