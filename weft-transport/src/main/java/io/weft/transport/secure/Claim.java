// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

/// The identity that one side claims and proves.
///
/// @param node its number
/// @param wanted the number that the other side must have
/// @param epoch its membership version
/// @param incarnation of its transport, to which its region keys belong
/// @param verdict `HandshakeReply` code on the responder's side, 0 on the initiator's
public record Claim(int node, int wanted, long epoch, long incarnation, int verdict) {}
