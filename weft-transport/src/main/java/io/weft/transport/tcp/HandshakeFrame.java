// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.secure.Claim;
import io.weft.transport.secure.JobProof;
import io.weft.transport.secure.ProvedClaim;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The four frames of the handshake: fixed sizes, little-endian; the byte table is in
/// docs/protocol/tcp.md.
final class HandshakeFrame {

  static final int START_BYTES = 8;
  static final int NONCE_BYTES = 40;
  static final int PROOF_BYTES = 96;
  static final byte HELLO = 0x11;
  static final byte CHALLENGE = 0x12;
  static final byte INITIATOR_PROOF = 0x13;
  static final byte RESPONDER_PROOF = 0x14;

  private static final int MAGIC = 0x54464557; // "WEFT"

  private HandshakeFrame() {}

  static ByteBuffer empty() {
    return ByteBuffer.allocate(PROOF_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  static ByteBuffer nonce(byte kind, byte[] nonce) {
    return begin(kind, 0).put(nonce).flip();
  }

  static ByteBuffer proof(byte kind, ProvedClaim proof) {
    Claim claim = proof.claim();
    return begin(kind, claim.verdict())
        .putInt(claim.node())
        .putInt(claim.wanted())
        .putLong(claim.epoch())
        .putLong(claim.incarnation())
        .put(proof.tag())
        .put(proof.proof())
        .flip();
  }

  /// Whether the first `START_BYTES` are those of a frame of this kind.
  static void checkStart(ByteBuffer frame, byte kind) throws ProtocolFault {
    readStart(frame, kind);
  }

  static byte[] readNonce(ByteBuffer frame, byte kind) throws ProtocolFault {
    checkStart(frame, kind);
    return read(frame);
  }

  static ProvedClaim readProof(ByteBuffer frame, byte kind) throws ProtocolFault {
    int verdict = readStart(frame, kind);
    int node = frame.getInt();
    int wanted = frame.getInt();
    long epoch = frame.getLong();
    Claim claim = new Claim(node, wanted, epoch, frame.getLong(), verdict);
    return new ProvedClaim(claim, read(frame), read(frame));
  }

  private static ByteBuffer begin(byte kind, int verdict) {
    return empty().putInt(MAGIC).put(Frame.VERSION).put(kind).putShort((short) verdict);
  }

  private static int readStart(ByteBuffer frame, byte kind) throws ProtocolFault {
    if (frame.getInt() != MAGIC) {
      throw new ProtocolFault("something that is not Weft's handshake");
    }
    byte version = frame.get();
    if (version != Frame.VERSION) {
      throw new ProtocolFault(
          "protocol version "
              + version
              + "; ours is "
              + Frame.VERSION
              + ", use the same version of Weft everywhere");
    }
    byte actual = frame.get();
    if (actual != kind) {
      throw new ProtocolFault("handshake frame " + actual + " where " + kind + " is due");
    }
    return frame.getShort() & 0xFFFF;
  }

  private static byte[] read(ByteBuffer frame) {
    byte[] bytes = new byte[JobProof.BYTES];
    frame.get(bytes);
    return bytes;
  }
}
