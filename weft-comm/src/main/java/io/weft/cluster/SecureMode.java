// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Locale;

/// The encryption of connections between processes; SECURITY.md states its guarantees. It must be
/// equal on all ranks, because ranks that differ refuse each other.
public enum SecureMode {
  /// On, except for connections within a loopback address.
  AUTO,
  /// Always.
  ON,
  /// Never: for a network without eavesdroppers and attackers.
  OFF;

  /// Returns the value of the setting, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
