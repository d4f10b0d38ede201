// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

/// Labelled examples in memory. Each feature and each label is one byte, or a workload encodes its
/// features in several bytes (`Floats`, `clicks.Ids`). The value of a feature byte is its unsigned
/// byte times `scale`. Immutable by convention: the arrays must not change after construction.
///
/// @param features per example
/// @param classes the number of classes, at most 128; labels are below it
/// @param scale 1/255 for pixels, 1 for binary features
/// @param values row after row, `count() * features` bytes; further bytes have no meaning
/// @param labels one byte per example
@SuppressWarnings("ArrayRecordComponent") // equals and hashCode below compare the contents
public record Examples(int features, int classes, float scale, byte[] values, byte[] labels) {

  /// Throws `IllegalArgumentException` if the lengths of the arrays do not match or a label is out
  /// of range.
  public Examples {
    if (features < 1 || classes < 2 || classes > 128) {
      throw new IllegalArgumentException(
          "examples of " + features + " features in " + classes + " classes");
    }
    if ((long) labels.length * features > values.length) {
      throw new IllegalArgumentException(
          values.length + " feature bytes for " + labels.length + " examples of " + features);
    }
    for (int i = 0; i < labels.length; i++) {
      if (labels[i] < 0 || labels[i] >= classes) {
        throw new IllegalArgumentException(
            "label " + labels[i] + " of example " + i + " is not in 0.." + (classes - 1));
      }
    }
  }

  /// Returns the number of examples.
  public int count() {
    return labels.length;
  }

  /// Returns a copy of these rows, in this order.
  public Examples select(int[] rows) {
    byte[] chosen = new byte[Math.multiplyExact(rows.length, features)];
    byte[] chosenLabels = new byte[rows.length];
    for (int i = 0; i < rows.length; i++) {
      Objects.checkIndex(rows[i], count());
      System.arraycopy(values, rows[i] * features, chosen, i * features, features);
      chosenLabels[i] = labels[rows[i]];
    }
    return new Examples(features, classes, scale, chosen, chosenLabels);
  }

  private int used() {
    return count() * features;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Examples that
        && features == that.features
        && classes == that.classes
        && scale == that.scale
        && Arrays.equals(values, 0, used(), that.values, 0, that.used())
        && Arrays.equals(labels, that.labels);
  }

  @Override
  public int hashCode() {
    return 31 * ByteBuffer.wrap(values, 0, used()).hashCode() + Arrays.hashCode(labels);
  }

  @Override
  public String toString() {
    return count() + " examples of " + features + " features in " + classes + " classes";
  }
}
