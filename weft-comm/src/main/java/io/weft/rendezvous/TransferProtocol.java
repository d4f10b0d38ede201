// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Locale;

/// The side that moves the bytes of a long tensor from producer to consumer [JIA17 §3.2].
public enum TransferProtocol {
  /// The consumer reads the tensor from the producer's memory, which needs fewer messages.
  READ,
  /// The producer writes the tensor into the consumer's memory. Once the edge's type and shape are
  /// known, the request names that memory.
  WRITE;

  /// Returns the value of the setting, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
