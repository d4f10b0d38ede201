// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// Facts for tuning. All verbs exist on all transports, but for `Endpoint.map`, which gives memory
/// only with `directAccess`.
///
/// @param device name
/// @param nativeOneSided whether remote read and write leave the peer's processor alone
/// @param maxMessageBytes largest small message
/// @param eagerBytes payload up to which a message is faster than a write that the peer has to
///   grant first: what two more copies cost against a round trip
/// @param maxTransferBytes largest single read or write
/// @param maxInFlight operations that one endpoint accepts before it answers `BACK_PRESSURED`
/// @param bitsPerSecond nominal speed, 0 = unknown
/// @param directAccess whether `Endpoint.map` may give the memory of peers on this host
public record Capabilities(
    String device,
    boolean nativeOneSided,
    int maxMessageBytes,
    int eagerBytes,
    long maxTransferBytes,
    int maxInFlight,
    long bitsPerSecond,
    boolean directAccess) {}
