// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

/// The two sides of a handshake. The proof covers the role, so that a proof cannot be sent back to
/// its author.
enum Role {
  /// The side that connects and proves first.
  INITIATOR((byte) 1),
  /// The side that listens and proves itself only to a proved initiator.
  RESPONDER((byte) 2);

  private final byte code;

  Role(byte code) {
    this.code = code;
  }

  /// Returns the encoding of the role in a proof.
  byte code() {
    return code;
  }
}
