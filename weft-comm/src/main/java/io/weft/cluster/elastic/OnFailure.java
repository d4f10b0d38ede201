// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.Locale;

/// The reaction of a job to the loss of a rank. Launcher and training act on it; `Weft.shrink`
/// works with both values.
public enum OnFailure {
  /// The job ends.
  END,
  /// The job continues with the remaining ranks.
  SHRINK;

  /// Returns the value of the setting, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
