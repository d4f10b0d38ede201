// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.model;

import java.util.Objects;

/// The rows of a step. The arrays are borrowed until the step ends.
///
/// @param features the features, row after row
/// @param labels the label of each row; classes are 0, 1, …
/// @param weights the weight of each row
public record RowBatch(float[] features, float[] labels, float[] weights) {

  /// Throws `NullPointerException` if an array is null.
  public RowBatch {
    Objects.requireNonNull(features, "features");
    Objects.requireNonNull(labels, "labels");
    Objects.requireNonNull(weights, "weights");
  }

  /// Returns the number of rows.
  public int rows() {
    return labels.length;
  }
}
