// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Locale;

/// When the ranks of a job connect with each other.
public enum Connections {
  /// All with all, before the job begins.
  ALL,
  /// Two of them when one first has something for the other.
  USED;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
