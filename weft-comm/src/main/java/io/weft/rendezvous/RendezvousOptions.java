// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Objects;
import java.util.OptionalInt;

/// The options of the transfers between ranks. The options of the ranks need not be equal.
///
/// @param protocol the protocol that this rank requests as a consumer
/// @param requests the grouping of receives, and of answers, into messages
/// @param queue the synchronization of the queue for the progress thread
/// @param memoryBytes the bound of the memory for received tensors; receives wait for room
/// @param eagerBytes the longest tensor that travels in a message; empty for the transport's limit
public record RendezvousOptions(
    TransferProtocol protocol,
    TransferRequests requests,
    TransferQueue queue,
    long memoryBytes,
    OptionalInt eagerBytes) {

  /// Throws `IllegalArgumentException` for less than 64 KiB of memory.
  public RendezvousOptions {
    Objects.requireNonNull(protocol, "protocol");
    Objects.requireNonNull(requests, "requests");
    Objects.requireNonNull(queue, "queue");
    Objects.requireNonNull(eagerBytes, "eagerBytes");
    if (memoryBytes < 1 << 16) {
      throw new IllegalArgumentException(
          "memory of " + memoryBytes + " bytes for received tensors; the minimum is 65536");
    }
  }
}
