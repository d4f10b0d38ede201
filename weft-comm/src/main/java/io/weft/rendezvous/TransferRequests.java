// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Locale;

/// How many receives share a request (SEASTAR in docs/papers.md).
public enum TransferRequests {
  /// All that one duty cycle finds ready for a peer, answers alike.
  FUSED,
  /// One each; for measuring.
  SINGLE;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
