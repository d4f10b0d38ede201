// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Locale;

/// The time at which the ranks of a job connect with each other.
public enum Connections {
  /// Every pair connects before the job begins.
  ALL,
  /// A pair connects when one of them first has a message for the other.
  USED;

  /// Returns the value of the setting, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
