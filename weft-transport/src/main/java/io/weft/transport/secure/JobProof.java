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
/// name, so that it tells nothing to a stranger and differs in every handshake. Comparisons take
/// constant time. Confined to one thread.
public final class JobProof {

  /// Bytes of a nonce, of a tag and of a proof.
  static final int BYTES = 32;

  private static final byte[] PROOF_LABEL = "weft handshake 1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] TAG_LABEL = "weft job tag 1".getBytes(StandardCharsets.US_ASCII);

  private final Credentials credentials;
  private final long incarnation;
  private final RandomGenerator random;
  private final Mac mac;

  /// Proofs for a transport with this incarnation.
  public JobProof(Credentials credentials, long incarnation) {
    this(credentials, incarnation, new SecureRandom());
  }

  /// Proofs whose nonces come from `random`, so that a simulation can repeat them. Only with a
  /// cryptographic generator do they keep anybody out.
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

  /// 32 fresh random bytes.
  byte[] nonce() {
    byte[] nonce = new byte[BYTES];
    random.nextBytes(nonce);
    return nonce;
  }

  /// What this side says of itself to a peer that must be `wanted`.
  Claim claim(int wanted, HandshakeReply verdict) {
    return new Claim(credentials.node(), wanted, credentials.epoch(), incarnation, verdict.code());
  }

  /// The tag of this side's job in one handshake.
  byte[] tag(byte[] initiatorNonce, byte[] responderNonce) {
    mac.update(TAG_LABEL);
    mac.update(initiatorNonce);
    mac.update(responderNonce);
    return mac.doFinal(credentials.job().getBytes(StandardCharsets.UTF_8));
  }

  /// The proof of a claim; covers the channel's binding, which is empty or has 32 bytes. Fixed
  /// lengths: no two inputs make the same bytes.
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

  /// What a wrong proof means.
  static String stranger(byte[] binding) {
    return "it does not know the job's secret"
        + (binding.length == 0 ? "" : ", or somebody on the way decrypts what is sent");
  }

  /// Whether two tags or proofs are equal; takes the same time wherever they differ.
  static boolean same(byte[] expected, byte[] actual) {
    return MessageDigest.isEqual(expected, actual);
  }

  /// The responder's verdict on an initiator whose proof was right.
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

  /// The initiator's verdict on a responder that accepted and whose proof was right.
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

  /// Why both do not belong together, for the log and the exceptions of sides that are proved.
  /// `wanted` is the node that the initiator wants.
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
              + " was wanted, ranks "
              + peer.node()
              + " and "
              + credentials.node()
              + " met: "
              + verdict.meaning();
    };
  }
}
