// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.Locale;

/// How many of the ranks must be left after a loss to go on without the others.
public enum ShrinkQuorum {
  /// More than half, or half with the lowest rank among them: never two parts of one job.
  MAJORITY,
  /// However few. Where a network breaks, both sides go on.
  ANY;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
