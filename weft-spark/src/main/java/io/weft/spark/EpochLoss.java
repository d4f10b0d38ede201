// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.io.Serializable;
import java.util.Locale;

/// The loss of the examples of an epoch so far. Spark's stage page shows it as text.
///
/// @param epoch the number of the epoch, from 1 on; 0 for a program without epochs
/// @param sum the sum of the losses of the examples
/// @param examples the number of examples
record EpochLoss(int epoch, double sum, long examples) implements Serializable {

  static final EpochLoss NONE = new EpochLoss(0, 0, 0);

  /// Returns the loss of the later epoch, or the combined loss of both if their epochs are equal.
  EpochLoss with(EpochLoss other) {
    if (epoch != other.epoch) {
      return epoch > other.epoch ? this : other;
    }
    return new EpochLoss(epoch, sum + other.sum, examples + other.examples);
  }

  /// Returns the mean loss of an example, or 0 without examples.
  double mean() {
    return examples == 0 ? 0 : sum / examples;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.4g", mean()) + (epoch == 0 ? "" : " in epoch " + epoch);
  }
}
