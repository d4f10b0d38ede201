// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import io.weft.transport.spi.Secret;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/// The bytes of strangers. They are written from docs/protocol/tcp.md and docs/protocol/store.md,
/// so that code and documents are checked against each other. Its methods are pure except for
/// `tlsHello`.
final class HostileBytes {

  static final int NONCE_BYTES = 32;

  /// The size of a greeting with its nonce, which a rank or the store sends.
  static final int GREETING_BYTES = 40;

  private static final byte[] STORE_MAGIC = "WEFTSTO4".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] MAGIC = "WEFT".getBytes(StandardCharsets.US_ASCII);
  private static final int RESPONDER_PROOF = 0x14;
  private static final int WELCOME = 1;

  private HostileBytes() {}

  static byte[] storeMagic() {
    return STORE_MAGIC.clone();
  }

  static byte[] httpRequest() {
    return "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"
        .getBytes(StandardCharsets.US_ASCII);
  }

  /// Returns a client's greeting from the JDK.
  static byte[] tlsHello() {
    try {
      SSLEngine engine = SSLContext.getDefault().createSSLEngine();
      engine.setUseClientMode(true);
      ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
      var unused = engine.wrap(ByteBuffer.allocate(0), out);
      return Arrays.copyOf(out.array(), out.position());
    } catch (GeneralSecurityException | SSLException impossible) {
      throw new IllegalStateException("every Java has TLS", impossible);
    }
  }

  /// Returns the header of a frame that announces `length` bytes.
  static byte[] frame(int kind, long length) {
    return ByteBuffer.allocate(32)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort((short) 0xF7E1)
        .put((byte) 2)
        .put((byte) kind)
        .putInt(0)
        .putInt(0)
        .putInt(0x10000)
        .putLong(0)
        .putLong(length)
        .array();
  }

  /// Returns a request to store a value of `length` bytes.
  static byte[] storePut(int length) {
    return ByteBuffer.allocate(8)
        .put((byte) 1)
        .putShort((short) 1)
        .put((byte) 'k')
        .putInt(length)
        .array();
  }

  static byte[] hello(byte[] nonce) {
    return start(0x11, GREETING_BYTES).put(nonce).array();
  }

  /// Returns the nonce in a greeting.
  static byte[] nonce(byte[] greeting) {
    return Arrays.copyOfRange(greeting, GREETING_BYTES - NONCE_BYTES, GREETING_BYTES);
  }

  /// Returns a proof that the sender is rank 1 of this job in epoch 0 and connects to rank 0.
  static byte[] proof(String job, Secret secret, byte[] ours, byte[] theirs) {
    byte[] claim =
        ByteBuffer.allocate(28).order(ByteOrder.LITTLE_ENDIAN).putInt(1).putInt(0).array();
    byte[] tag =
        hmac(secret, ascii("weft job tag 1"), ours, theirs, job.getBytes(StandardCharsets.UTF_8));
    byte[] mac = hmac(secret, ascii("weft handshake 1"), new byte[] {1}, ours, theirs, claim, tag);
    return start(0x13, 96).put(claim, 0, 24).put(tag).put(mac).array();
  }

  /// Returns a rank's message to the store: magic, nonce, proof.
  static byte[] storeProof(Secret secret, byte[] ours, byte[] theirs) {
    byte[] mac = hmac(secret, ascii("weft store client"), theirs, ours);
    return ByteBuffer.allocate(72).put(STORE_MAGIC).put(ours).put(mac).array();
  }

  /// Returns whether the bytes begin with an unencrypted greeting of a rank or the store.
  static boolean isGreeting(byte[] heard) {
    return heard.length >= GREETING_BYTES
        && Arrays.equals(heard, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
  }

  /// Returns whether this answer to a proof, which follows a greeting, admits the sender.
  static boolean isWelcome(OpenPort door, byte[] answer) {
    return door.store()
        ? answer.length > 0 && answer[0] == WELCOME
        : answer.length > 5 && answer[5] == RESPONDER_PROOF;
  }

  private static ByteBuffer start(int kind, int bytes) {
    return ByteBuffer.allocate(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(MAGIC)
        .put((byte) 1)
        .put((byte) kind)
        .putShort((short) 0);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] hmac(Secret secret, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.bytes(), "HmacSHA256"));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every Java has HMAC-SHA-256", impossible);
    }
  }
}
