// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.workloads.data.Examples;
import java.util.function.Consumer;
import org.tensorflow.types.TFloat32;

/// The evaluation of examples by a model.
///
/// @param correct the number of correct predictions
/// @param ranking of the scores; empty if the workload is not ranked
public record Evaluation(long correct, Ranking ranking) {

  private static final int BATCH = 500;

  /// A model that evaluates one batch.
  @FunctionalInterface
  public interface Evaluator {

    /// Returns the number of correct predictions for `size` examples from `first` on. Passes their
    /// scores, of shape size, to `scores` if the workload is ranked.
    int evaluate(int first, int size, Consumer<TFloat32> scores) throws InterruptedException;
  }

  /// Evaluates all examples in batches of at most 500.
  public static Evaluation of(Examples examples, Evaluator model) throws InterruptedException {
    long correct = 0;
    var ranking = new Ranking();
    for (int first = 0; first < examples.count(); first += BATCH) {
      int from = first;
      int size = Math.min(BATCH, examples.count() - from);
      correct +=
          model.evaluate(
              from,
              size,
              scores -> {
                for (int i = 0; i < size; i++) {
                  ranking.add(scores.getFloat(i), examples.labels()[from + i]);
                }
              });
    }
    return new Evaluation(correct, ranking);
  }
}
