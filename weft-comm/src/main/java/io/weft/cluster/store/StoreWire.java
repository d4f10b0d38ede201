// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.transport.spi.Secret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
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
/// Then, for each request of the client, one reply: `PUT` (1), key length (2), key, value length
/// (4), value -> status (1); `GET` (1), key length (2), key, milliseconds to wait (4) -> status (1)
/// and, if that is `FOUND`, value length (4), value. Lengths are checked before anything is
/// allocated.
final class StoreWire {

  static final int NONCE_BYTES = 32;
  static final int PROOF_BYTES = 32;

  static final int PUT = 1;
  static final int GET = 2;

  static final int WELCOME = 1;
  static final int REFUSED = 2;
  static final int DONE = 3;
  static final int FOUND = 4;
  static final int ABSENT = 5;
  static final int FULL = 6;

  /// Longest wait that a client asks the server for at once.
  static final int MAX_WAIT_MILLIS = 1_000;

  private static final byte[] MAGIC = "WEFTSTO1".getBytes(StandardCharsets.US_ASCII);
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

  private static byte[] proof(
      Secret secret, String role, byte[] serverNonce, byte[] clientNonce, byte[] binding) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.bytes(), "HmacSHA256"));
      mac.update(role.getBytes(StandardCharsets.US_ASCII));
      mac.update(serverNonce);
      mac.update(clientNonce);
      return mac.doFinal(binding);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every Java has HMAC-SHA-256", impossible);
    }
  }
}
