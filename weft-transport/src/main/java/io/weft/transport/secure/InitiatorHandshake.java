// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The handshake of the side that connects. The caller sends `hello`, then passes every received
/// byte to `receive` until it returns something other than `Continued`. The class performs no I/O
/// and uses no clock. Confined to one thread.
public final class InitiatorHandshake {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] NO_BINDING = {};

  private enum State {
    WAITS_FOR_CHALLENGE,
    WAITS_FOR_PROOF,
    ENDED
  }

  private final JobProof proof;
  private final byte[] binding;
  private final int wanted;
  private final byte[] nonce;
  private final IncomingFrame incoming = new IncomingFrame();
  private byte[] challenge = {};
  private State state = State.WAITS_FOR_CHALLENGE;

  /// Creates a handshake with a peer that must be node `wanted`; draws a fresh nonce.
  public InitiatorHandshake(JobProof proof, int wanted) {
    this(proof, wanted, NO_BINDING);
  }

  /// Creates a handshake inside an encrypted channel. Only the channel's two ends know the
  /// `binding` of 32 bytes. The proofs cover it, so that an attacker cannot relay them from one
  /// channel to another.
  public InitiatorHandshake(JobProof proof, int wanted, byte[] binding) {
    this.proof = proof;
    this.binding = binding.clone();
    this.wanted = wanted;
    nonce = proof.nonce();
    incoming.expect(HandshakeFrame.CHALLENGE, HandshakeFrame.NONCE_BYTES);
  }

  /// Returns the first frame to send, 40 bytes.
  public ByteBuffer hello() {
    return HandshakeFrame.nonce(HandshakeFrame.HELLO, nonce);
  }

  /// Returns the count of bytes that the handshake can consume now, so that a caller does not read
  /// further.
  public int lacking() {
    return state == State.ENDED ? 0 : incoming.lacking();
  }

  /// Consumes bytes as they arrive, at most `lacking`, and leaves the rest. It must not be called
  /// after the handshake has ended.
  public HandshakeStep receive(ByteBuffer in) {
    if (state == State.ENDED) {
      throw new IllegalStateException("the handshake is over");
    }
    String fault = incoming.take(in);
    if (fault != null) {
      return refused(
          state == State.WAITS_FOR_PROOF && incoming.isRefusal()
              ? "it does not accept our proof of the job's secret" + sameSecret()
              : "it answered with " + fault);
    }
    if (incoming.lacking() > 0) {
      return new HandshakeStep.Continued(NOTHING);
    }
    return state == State.WAITS_FOR_CHALLENGE ? challenged() : proved();
  }

  /// Returns whether this side has sent its proof. From then on the peer may have accepted the
  /// connection, and would treat its end as the loss of this node.
  public boolean hasProved() {
    return state != State.WAITS_FOR_CHALLENGE;
  }

  /// Describes the end of the connection, which happened for the reason `how`. The end does not
  /// settle the handshake: a peer that has too many unproven connections also closes some, so that
  /// the caller may try again.
  public String ended(@Nullable String how) {
    return state == State.WAITS_FOR_PROOF
        ? "it closed the connection when we proved the job's secret (" + how + ")" + sameSecret()
        : String.valueOf(how);
  }

  private String sameSecret() {
    return "; do all processes have the same secret"
        + (binding.length == 0 ? "?" : ", and does no intermediary decrypt the traffic?");
  }

  private HandshakeStep challenged() {
    challenge = incoming.nonce();
    Claim claim = proof.claim(wanted, HandshakeReply.ACCEPTED);
    byte[] tag = proof.tag(nonce, challenge);
    byte[] mac = proof.prove(Role.INITIATOR, nonce, challenge, claim, tag, binding);
    incoming.expect(HandshakeFrame.RESPONDER_PROOF, HandshakeFrame.PROOF_BYTES);
    state = State.WAITS_FOR_PROOF;
    return new HandshakeStep.Continued(
        HandshakeFrame.proof(HandshakeFrame.INITIATOR_PROOF, new ProvedClaim(claim, tag, mac)));
  }

  private HandshakeStep proved() {
    ProvedClaim answer = incoming.proof();
    Claim peer = answer.claim();
    byte[] mac = proof.prove(Role.RESPONDER, nonce, challenge, peer, answer.tag(), binding);
    if (!JobProof.same(mac, answer.proof())) {
      return refused(JobProof.stranger(binding) + "; is another job listening there?");
    }
    HandshakeReply verdict = HandshakeReply.of(peer.verdict());
    if (verdict == HandshakeReply.ACCEPTED) {
      verdict = proof.check(peer, wanted, nonce, challenge, answer.tag());
    }
    if (verdict != HandshakeReply.ACCEPTED) {
      return refused("refused: " + proof.explain(verdict, peer, wanted));
    }
    state = State.ENDED;
    return new HandshakeStep.Established(NOTHING, peer);
  }

  private HandshakeStep refused(String why) {
    state = State.ENDED;
    return new HandshakeStep.Refused(NOTHING, why);
  }
}
