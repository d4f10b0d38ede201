// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

/// The two sides of a handshake. The role is part of what is proved, so that a proof cannot be sent
/// back to the side that made it.
enum Role {
  /// Connects, proves first.
  INITIATOR((byte) 1),
  /// Listens, proves only to a proved initiator.
  RESPONDER((byte) 2);

  private final byte code;

  Role(byte code) {
    this.code = code;
  }

  /// What stands for the role in a proof.
  byte code() {
    return code;
  }
}
