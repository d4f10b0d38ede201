// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

/// How tensors travel from rank to rank. Each rank has its own; they need not agree.
///
/// @param protocol what this rank asks for as a consumer
/// @param requests how receives and answers leave
/// @param memoryBytes bound of the memory for received tensors; receives wait for room
public record RendezvousOptions(
    TransferProtocol protocol, TransferRequests requests, long memoryBytes) {

  /// Throws `IllegalArgumentException` for less than 64 KiB of memory.
  public RendezvousOptions {
    if (memoryBytes < 1 << 16) {
      throw new IllegalArgumentException(
          "memory of " + memoryBytes + " bytes for received tensors; the least is 65536");
    }
  }
}
