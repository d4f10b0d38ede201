// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Locale;

/// Who moves the bytes of a long tensor from producer to consumer [JIA17 §3.2].
public enum TransferProtocol {
  /// The consumer reads them out of the producer's memory: fewer messages.
  READ,
  /// The producer writes them into the consumer's memory, which the request names once the edge's
  /// type and shape are known.
  WRITE;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
