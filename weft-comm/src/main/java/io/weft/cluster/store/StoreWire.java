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

/// The bytes between a store's client and its server; all numbers big-endian.
///
/// Opening: the server sends magic (8) and its nonce (32); the client magic (8), its nonce (32) and
/// its proof (32); the server a status (1) and, if that is `WELCOME`, its own proof (32). A proof
/// is HMAC-SHA-256, keyed by the job's secret, over the role and both nonces; each side has drawn
/// one of them, so that a proof cannot be replayed nor sent back to its author. Where the
/// connection is encrypted, all of this is said inside TLS and a proof covers the connection's
/// keys, too.
///
/// Then each says which job it is of: length (2), the job's identity, its proof (32); the server
/// answers `SAME_JOB` (1) and the same with its meeting's name in place of the job, or `OTHER_JOB`
/// (1) and the same with the job that it keeps a store for, and the end.
///
/// Then, for each request of the client, one reply, as docs/protocol/store.md has them. Lengths are
/// checked before anything is allocated.
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

  /// Length of an expected value where the key must not be there.
  static final int NO_VALUE = -1;

  /// Longest wait that a client asks the server for at once.
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

  /// In constant time.
  static boolean same(byte[] expected, byte[] actual) {
    return MessageDigest.isEqual(expected, actual);
  }

  /// One text of the exchange about the job, with its proof, in which everything before it of this
  /// connection is covered by the nonces.
  ///
  /// @param status what the server says with it, 0 for the client
  static void writeText(DataOutputStream out, Secret secret, int status, byte[] nonces, String text)
      throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeShort(bytes.length);
    out.write(bytes);
    out.write(textProof(secret, status, nonces, bytes));
  }

  /// The other side's text. Throws `IOException` where it is too long, its proof is wrong or it is
  /// no text.
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
      throw new IOException("a wrong proof of the job's identity: somebody on the way changed it");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /// Both nonces of a connection.
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
