// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Locale;

/// The grouping of receives into requests (SEASTAR in docs/papers.md).
public enum TransferRequests {
  /// One request contains all receives from a peer in one duty cycle, as far as they fit; answers
  /// are grouped likewise.
  FUSED,
  /// One request per receive; for measurements.
  SINGLE;

  /// Returns the value of the setting, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
