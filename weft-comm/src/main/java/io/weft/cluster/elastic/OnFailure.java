// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.Locale;

/// What a lost rank means for the others. Launcher and training act by it; `Weft.shrink` works with
/// both.
public enum OnFailure {
  /// The job ends.
  END,
  /// The job goes on with the ranks that are left.
  SHRINK;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
