// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.Locale;

/// The share of the ranks that must remain after a loss for them to continue without the others.
public enum ShrinkQuorum {
  /// More than half, or half with the lowest rank among them. Two parts of a job never both
  /// continue.
  MAJORITY,
  /// Any number. If a network breaks, both sides continue.
  ANY;

  /// Returns the value of the setting, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
