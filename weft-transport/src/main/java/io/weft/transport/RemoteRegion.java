// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// A peer's memory: address, length, key, and the incarnation of the transport that registered it,
/// so that a key from before a reconnect is refused and not written to. Plain data, 28 bytes on the
/// wire (docs/protocol/tcp.md).
///
/// @param address base that offsets are added to; its meaning is the transport's
/// @param bytes length
/// @param key permission
/// @param incarnation of the registering transport
public record RemoteRegion(long address, long bytes, int key, long incarnation) {

  /// Bytes of one region on the wire.
  public static final int WIRE_BYTES = 28;
}
