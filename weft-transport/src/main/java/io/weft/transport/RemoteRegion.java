// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// A peer's memory: address, length, key, and the incarnation of the transport that registered it.
/// The incarnation ensures that the peer refuses a key from before a reconnect. Plain data, 28
/// bytes on the wire (docs/protocol/tcp.md).
///
/// @param address base of all offsets; its meaning depends on the transport
/// @param bytes length
/// @param key permission
/// @param incarnation of the registering transport
public record RemoteRegion(long address, long bytes, int key, long incarnation) {

  /// The encoded size of a region on the wire, in bytes.
  public static final int WIRE_BYTES = 28;
}
