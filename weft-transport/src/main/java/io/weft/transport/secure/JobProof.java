// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import io.weft.transport.spi.Credentials;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Makes and checks the proof of the job's secret: HMAC-SHA-256 over a label, the role, both fresh
/// nonces, the claim and the job's tag. The tag is itself an HMAC over both nonces and the job's
/// name. It therefore reveals nothing to a stranger and differs in every handshake. Comparisons
/// take constant time. Confined to one thread.
public final class JobProof {

  /// The size of a nonce, of a tag and of a proof, in bytes.
  static final int BYTES = 32;

  private static final byte[] PROOF_LABEL = "weft handshake 1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] TAG_LABEL = "weft job tag 1".getBytes(StandardCharsets.US_ASCII);

  private final Credentials credentials;
  private final long incarnation;
  private final RandomGenerator random;
  private final Mac mac;

  /// Creates proofs for a transport with this incarnation.
  public JobProof(Credentials credentials, long incarnation) {
    this(credentials, incarnation, new SecureRandom());
  }

  /// Creates proofs whose nonces come from `random`, so that a simulation can repeat them. Only a
  /// cryptographic generator makes the proofs secure.
  public JobProof(Credentials credentials, long incarnation, RandomGenerator random) {
    this.credentials = credentials;
    this.incarnation = incarnation;
    this.random = random;
    try {
      mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(credentials.secret().bytes(), "HmacSHA256"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no HmacSHA256", e);
    }
  }

  /// Returns 32 fresh random bytes.
  byte[] nonce() {
    byte[] nonce = new byte[BYTES];
    random.nextBytes(nonce);
    return nonce;
  }

  /// Returns the claim of this side for a peer that must be `wanted`.
  Claim claim(int wanted, HandshakeReply verdict) {
    return new Claim(credentials.node(), wanted, credentials.epoch(), incarnation, verdict.code());
  }

  /// Returns the tag of this side's job in one handshake.
  byte[] tag(byte[] initiatorNonce, byte[] responderNonce) {
    mac.update(TAG_LABEL);
    mac.update(initiatorNonce);
    mac.update(responderNonce);
    return mac.doFinal(credentials.job().getBytes(StandardCharsets.UTF_8));
  }

  /// Returns the proof of a claim, which covers the channel's binding of 0 or 32 bytes. The fields
  /// have fixed lengths, so that different inputs never encode to the same bytes.
  byte[] prove(
      Role role,
      byte[] initiatorNonce,
      byte[] responderNonce,
      Claim claim,
      byte[] tag,
      byte[] binding) {
    mac.update(PROOF_LABEL);
    mac.update(role.code());
    mac.update(initiatorNonce);
    mac.update(responderNonce);
    mac.update(
        ByteBuffer.allocate(28)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(claim.node())
            .putInt(claim.wanted())
            .putLong(claim.epoch())
            .putLong(claim.incarnation())
            .putInt(claim.verdict())
            .flip());
    mac.update(tag);
    return mac.doFinal(binding);
  }

  static String stranger(byte[] binding) {
    return "it does not know the job's secret"
        + (binding.length == 0 ? "" : ", or an intermediary decrypts the traffic");
  }

  /// Returns whether two tags or proofs are equal, in constant time.
  static boolean same(byte[] expected, byte[] actual) {
    return MessageDigest.isEqual(expected, actual);
  }

  /// Returns the responder's verdict on an initiator whose proof was correct.
  HandshakeReply judge(Claim initiator, byte[] ownTag, byte[] initiatorTag) {
    if (!same(ownTag, initiatorTag)) {
      return HandshakeReply.WRONG_JOB;
    }
    if (initiator.epoch() != credentials.epoch()) {
      return HandshakeReply.WRONG_EPOCH;
    }
    return initiator.wanted() == credentials.node()
        ? HandshakeReply.ACCEPTED
        : HandshakeReply.WRONG_NODE;
  }

  /// Returns the initiator's verdict on a responder that accepted and whose proof was correct.
  HandshakeReply check(
      Claim responder, int wanted, byte[] initiatorNonce, byte[] responderNonce, byte[] tag) {
    if (!same(tag(initiatorNonce, responderNonce), tag)) {
      return HandshakeReply.WRONG_JOB;
    }
    if (responder.epoch() != credentials.epoch()) {
      return HandshakeReply.WRONG_EPOCH;
    }
    return responder.node() == wanted && responder.wanted() == credentials.node()
        ? HandshakeReply.ACCEPTED
        : HandshakeReply.WRONG_NODE;
  }

  /// Explains a verdict, for the logs and exceptions of sides that have proved the secret. `wanted`
  /// is the node that the initiator wants.
  String explain(HandshakeReply verdict, Claim peer, int wanted) {
    return switch (verdict) {
      case ACCEPTED -> verdict.meaning();
      case WRONG_JOB -> "this side is of job '" + credentials.job() + "': " + verdict.meaning();
      case WRONG_EPOCH ->
          "its epoch is "
              + peer.epoch()
              + ", ours is "
              + credentials.epoch()
              + ": "
              + verdict.meaning();
      case WRONG_NODE ->
          "rank "
              + wanted
              + " was expected, but ranks "
              + peer.node()
              + " and "
              + credentials.node()
              + " connected: "
              + verdict.meaning();
    };
  }
}
