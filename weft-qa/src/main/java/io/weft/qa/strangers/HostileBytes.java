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

/// What strangers say: bytes as docs/protocol/tcp.md and docs/protocol/store.md have them, written
/// from the documents, so that both are checked against each other. Pure but for `tlsHello`.
final class HostileBytes {

  static final int NONCE_BYTES = 32;

  /// Of a greeting with its nonce, a rank's or the store's.
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

  /// A client's greeting as the JDK makes it.
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

  /// The header of a frame that announces so many bytes.
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

  /// A request to keep a value of so many bytes.
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

  /// The nonce in a greeting.
  static byte[] nonce(byte[] greeting) {
    return Arrays.copyOfRange(greeting, GREETING_BYTES - NONCE_BYTES, GREETING_BYTES);
  }

  /// That rank 1 of this job, in epoch 0, wants to speak with rank 0.
  static byte[] proof(String job, Secret secret, byte[] ours, byte[] theirs) {
    byte[] claim =
        ByteBuffer.allocate(28).order(ByteOrder.LITTLE_ENDIAN).putInt(1).putInt(0).array();
    byte[] tag =
        hmac(secret, ascii("weft job tag 1"), ours, theirs, job.getBytes(StandardCharsets.UTF_8));
    byte[] mac = hmac(secret, ascii("weft handshake 1"), new byte[] {1}, ours, theirs, claim, tag);
    return start(0x13, 96).put(claim, 0, 24).put(tag).put(mac).array();
  }

  /// What a rank tells the store: magic, nonce, proof.
  static byte[] storeProof(Secret secret, byte[] ours, byte[] theirs) {
    byte[] mac = hmac(secret, ascii("weft store client"), theirs, ours);
    return ByteBuffer.allocate(72).put(STORE_MAGIC).put(ours).put(mac).array();
  }

  /// Whether these bytes begin as a rank's or the store's greeting does, not encrypted.
  static boolean isGreeting(byte[] heard) {
    return heard.length >= GREETING_BYTES
        && Arrays.equals(heard, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
  }

  /// Whether this answer to a proof, which came behind a greeting, lets its maker in.
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
