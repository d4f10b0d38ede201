// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.transport.spi.Secret;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// The wire format between a store's client and its server. All numbers are big-endian.
///
/// In the opening, the server sends its magic (8 bytes) and its nonce (32). The client sends its
/// magic (8), its nonce (32) and its proof (32). The server sends a status (1) and, if the status
/// is `WELCOME`, its own proof (32). A proof is HMAC-SHA-256, keyed by the job's secret, over the
/// role and both nonces. Each side has drawn one of the nonces, so a proof can be neither replayed
/// nor reflected. On an encrypted connection, the opening is inside TLS and a proof also covers the
/// connection's keys.
///
/// Then each side names its job. The client sends a length (2), the job's identity and its proof
/// (32). The server answers `SAME_JOB` (1), followed by the identifier of its meeting in the same
/// format, or `OTHER_JOB` (1), followed by the job that it serves in the same format, and then
/// closes the connection.
///
/// Then the server sends one reply to each request of the client, as in docs/protocol/store.md.
/// Each side checks lengths before it allocates anything.
final class StoreWire {

  static final int NONCE_BYTES = 32;
  static final int PROOF_BYTES = 32;

  static final int PUT = 1;
  static final int GET = 2;
  static final int COMPARE_AND_SET = 3;
  static final int REMOVE = 4;
  static final int GET_OTHER = 5;

  static final int WELCOME = 1;
  static final int REFUSED = 2;
  static final int DONE = 3;
  static final int FOUND = 4;
  static final int ABSENT = 5;
  static final int FULL = 6;
  static final int SAME_JOB = 7;
  static final int OTHER_JOB = 8;
  static final int DIFFERENT = 9;

  /// The length sent in place of an expected value's if the key must be absent.
  static final int NO_VALUE = -1;

  /// Longest wait that a client requests from the server in one request.
  static final int MAX_WAIT_MILLIS = 1_000;

  private static final byte[] MAGIC = "WEFTSTO4".getBytes(StandardCharsets.US_ASCII);
  private static final SecureRandom RANDOM = new SecureRandom();

  private StoreWire() {}

  static byte[] magic() {
    return MAGIC.clone();
  }

  static int magicBytes() {
    return MAGIC.length;
  }

  static byte[] nonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  static byte[] clientProof(Secret secret, byte[] serverNonce, byte[] clientNonce, byte[] binding) {
    return proof(secret, "weft store client", serverNonce, clientNonce, binding);
  }

  static byte[] serverProof(Secret secret, byte[] serverNonce, byte[] clientNonce, byte[] binding) {
    return proof(secret, "weft store server", serverNonce, clientNonce, binding);
  }

  /// Compares in constant time.
  static boolean same(byte[] expected, byte[] actual) {
    return MessageDigest.isEqual(expected, actual);
  }

  /// Writes one text of the job exchange with its proof. The nonces in the proof cover the
  /// preceding messages of this connection.
  ///
  /// @param status the server's status that accompanies the text, 0 for the client
  static void writeText(DataOutputStream out, Secret secret, int status, byte[] nonces, String text)
      throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeShort(bytes.length);
    out.write(bytes);
    out.write(textProof(secret, status, nonces, bytes));
  }

  /// Reads the other side's text. Throws `IOException` if it is empty or too long, or if its proof
  /// is wrong.
  static String readText(DataInputStream in, Secret secret, int status, byte[] nonces)
      throws IOException {
    int length = in.readUnsignedShort();
    if (length == 0 || length > JobIdentity.MAX_BYTES) {
      throw new IOException("a job's identity of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    byte[] proof = new byte[PROOF_BYTES];
    in.readFully(proof);
    if (!same(textProof(secret, status, nonces, bytes), proof)) {
      throw new IOException("a wrong proof of the job's identity: an intermediary changed it");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static byte[] nonces(byte[] serverNonce, byte[] clientNonce) {
    byte[] both = Arrays.copyOf(serverNonce, serverNonce.length + clientNonce.length);
    System.arraycopy(clientNonce, 0, both, serverNonce.length, clientNonce.length);
    return both;
  }

  private static byte[] textProof(Secret secret, int status, byte[] nonces, byte[] text) {
    return mac(secret, "weft store job " + status, nonces, text);
  }

  private static byte[] proof(
      Secret secret, String role, byte[] serverNonce, byte[] clientNonce, byte[] binding) {
    return mac(secret, role, serverNonce, clientNonce, binding);
  }

  private static byte[] mac(Secret secret, String label, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.bytes(), "HmacSHA256"));
      mac.update(label.getBytes(StandardCharsets.US_ASCII));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every Java has HMAC-SHA-256", impossible);
    }
  }
}
