// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

/// The options of the transfers between ranks. The options of the ranks need not be equal.
///
/// @param protocol the protocol that this rank requests as a consumer
/// @param requests the grouping of receives, and of answers, into messages
/// @param memoryBytes the bound of the memory for received tensors; receives wait for room
public record RendezvousOptions(
    TransferProtocol protocol, TransferRequests requests, long memoryBytes) {

  /// Throws `IllegalArgumentException` for less than 64 KiB of memory.
  public RendezvousOptions {
    if (memoryBytes < 1 << 16) {
      throw new IllegalArgumentException(
          "memory of " + memoryBytes + " bytes for received tensors; the minimum is 65536");
    }
  }
}
