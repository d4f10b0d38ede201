// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Locale;

/// Whether connections between processes are encrypted (SECURITY.md says what that promises). The
/// same on all ranks, else they refuse each other.
public enum SecureMode {
  /// On, but for connections within a loopback address.
  AUTO,
  /// Always.
  ON,
  /// Never: for a network on which nobody reads or changes packets.
  OFF;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
