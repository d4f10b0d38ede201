// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// The properties of a device, for tuning. Every transport supports all operations except
/// `Endpoint.map`, which requires `directAccess`.
///
/// @param device name
/// @param nativeOneSided true if remote reads and writes bypass the peer's processor
/// @param maxMessageBytes largest small message
/// @param eagerBytes payload up to which a message is faster than a write that the peer must grant
///   first: two additional copies then cost less than a round trip
/// @param maxTransferBytes largest single read or write
/// @param maxInFlight operations that one endpoint accepts before it answers `BACK_PRESSURED`
/// @param bitsPerSecond nominal speed, 0 = unknown
/// @param directAccess true if `Endpoint.map` may return the memory of peers on this host
public record Capabilities(
    String device,
    boolean nativeOneSided,
    int maxMessageBytes,
    int eagerBytes,
    long maxTransferBytes,
    int maxInFlight,
    long bitsPerSecond,
    boolean directAccess) {}
