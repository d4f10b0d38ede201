// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import io.weft.transport.tls.TlsMark;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// The partial handshake frame that is arriving, in pieces of any size. It occupies 96 bytes,
/// whatever the peer sends.
final class IncomingFrame {

  private final ByteBuffer bytes =
      ByteBuffer.allocate(HandshakeFrame.PROOF_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private byte kind;

  /// Begins to wait for a frame of this kind and length.
  void expect(byte expectedKind, int length) {
    kind = expectedKind;
    bytes.clear().limit(length);
  }

  int lacking() {
    return bytes.remaining();
  }

  /// Consumes the bytes that belong to the frame and leaves the rest. Returns a description of a
  /// fault in the received part of the frame, or null. The first bytes suffice to recognize other
  /// protocols.
  @Nullable String take(ByteBuffer in) {
    int taken = Math.min(in.remaining(), bytes.remaining());
    int end = in.limit();
    bytes.put(in.limit(in.position() + taken));
    in.limit(end);
    if (isTls()) {
      return "a TLS greeting; give all ranks the same --secure (WEFT_SECURE), it is off here";
    }
    return bytes.position() < HandshakeFrame.START_BYTES ? null : fault();
  }

  /// Returns whether the peer encrypts, so that this side cannot read its frames.
  boolean isTls() {
    return bytes.position() >= TlsMark.BYTES && TlsMark.isTls(bytes.get(0), bytes.get(1));
  }

  /// Returns whether the peer refuses this side's proof instead of sending the expected frame.
  boolean isRefusal() {
    return bytes.position() >= HandshakeFrame.START_BYTES
        && bytes.getInt(0) == HandshakeFrame.MAGIC
        && bytes.get(4) == HandshakeFrame.VERSION
        && bytes.get(5) == HandshakeFrame.REFUSAL;
  }

  private @Nullable String fault() {
    if (bytes.getInt(0) != HandshakeFrame.MAGIC) {
      return "something that is not Weft's handshake";
    }
    byte version = bytes.get(4);
    if (version != HandshakeFrame.VERSION) {
      return "protocol version "
          + version
          + "; ours is "
          + HandshakeFrame.VERSION
          + ", use the same version of Weft everywhere";
    }
    byte actual = bytes.get(5);
    return actual == kind ? null : "handshake frame " + actual + " where " + kind + " is due";
  }

  /// Returns the nonce of a complete `HELLO` or `CHALLENGE`.
  byte[] nonce() {
    return read(HandshakeFrame.START_BYTES);
  }

  /// Returns the claim of a complete proof frame.
  ProvedClaim proof() {
    Claim claim =
        new Claim(
            bytes.getInt(8),
            bytes.getInt(12),
            bytes.getLong(16),
            bytes.getLong(24),
            bytes.getShort(6) & 0xFFFF);
    return new ProvedClaim(claim, read(32), read(32 + JobProof.BYTES));
  }

  private byte[] read(int from) {
    byte[] read = new byte[JobProof.BYTES];
    bytes.get(from, read);
    return read;
  }
}
