// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import java.io.Serializable;
import java.util.List;

/// The course of a training, which is not saved with the model.
///
/// @param executors Spark's identifiers of the executors that trained, by rank
/// @param rows the numbers of rows, by rank
/// @param losses the mean weighted loss of each epoch that the last attempt trained
/// @param stepMillis the median duration of a step in the last epoch, in milliseconds, by rank; NaN
///   for a rank without rows
/// @param digests the fingerprints of the final weights, by rank
public record TrainingSummary(
    List<String> executors,
    List<Long> rows,
    List<Double> losses,
    List<Double> stepMillis,
    List<String> digests)
    implements Serializable {
  /// Copies the lists.
  public TrainingSummary {
    executors = List.copyOf(executors);
    rows = List.copyOf(rows);
    losses = List.copyOf(losses);
    stepMillis = List.copyOf(stepMillis);
    digests = List.copyOf(digests);
  }

  /// Returns whether all ranks ended with the same weights, bit by bit.
  public boolean equalWeights() {
    return digests.stream().distinct().count() == 1;
  }
}
