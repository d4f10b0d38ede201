// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The encoding of handshake frames: fixed sizes, little-endian. docs/protocol/tcp.md has the byte
/// table.
final class HandshakeFrame {

  static final int START_BYTES = 8;
  static final int NONCE_BYTES = 40;
  static final int PROOF_BYTES = 96;
  static final int MAGIC = 0x54464557; // "WEFT"
  static final byte VERSION = 1;
  static final byte HELLO = 0x11;
  static final byte CHALLENGE = 0x12;
  static final byte INITIATOR_PROOF = 0x13;
  static final byte RESPONDER_PROOF = 0x14;
  static final byte REFUSAL = 0x18;

  private HandshakeFrame() {}

  static ByteBuffer nonce(byte kind, byte[] nonce) {
    return begin(kind, 0, NONCE_BYTES).put(nonce).flip();
  }

  static ByteBuffer proof(byte kind, ProvedClaim proof) {
    Claim claim = proof.claim();
    return begin(kind, claim.verdict(), PROOF_BYTES)
        .putInt(claim.node())
        .putInt(claim.wanted())
        .putLong(claim.epoch())
        .putLong(claim.incarnation())
        .put(proof.tag())
        .put(proof.proof())
        .flip();
  }

  /// Returns the reply to a peer that proves another secret. It contains no proof, so that it
  /// reveals nothing.
  static ByteBuffer refusal() {
    return begin(REFUSAL, 0, START_BYTES).flip();
  }

  private static ByteBuffer begin(byte kind, int verdict, int bytes) {
    return ByteBuffer.allocate(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MAGIC)
        .put(VERSION)
        .put(kind)
        .putShort((short) verdict);
  }
}
