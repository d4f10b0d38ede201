// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The handshake of the side that connects: `hello` goes out, then every byte that comes in goes
/// through `receive` until that says something else than `Continued`. Does no input or output and
/// knows no time. Confined to one thread.
public final class InitiatorHandshake {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] NO_BINDING = {};

  private enum State {
    WAITS_FOR_CHALLENGE,
    WAITS_FOR_PROOF,
    OVER
  }

  private final JobProof proof;
  private final byte[] binding;
  private final int wanted;
  private final byte[] nonce;
  private final IncomingFrame incoming = new IncomingFrame();
  private byte[] challenge = {};
  private State state = State.WAITS_FOR_CHALLENGE;

  /// A handshake with a peer that must be node `wanted`; draws a fresh nonce.
  public InitiatorHandshake(JobProof proof, int wanted) {
    this(proof, wanted, NO_BINDING);
  }

  /// The same inside an encrypted channel, whose `binding` only its two ends know: 32 bytes that
  /// the proofs cover, so that nobody can carry them from one channel to another.
  public InitiatorHandshake(JobProof proof, int wanted, byte[] binding) {
    this.proof = proof;
    this.binding = binding.clone();
    this.wanted = wanted;
    nonce = proof.nonce();
    incoming.expect(HandshakeFrame.CHALLENGE, HandshakeFrame.NONCE_BYTES);
  }

  /// What is sent first, 40 bytes.
  public ByteBuffer hello() {
    return HandshakeFrame.nonce(HandshakeFrame.HELLO, nonce);
  }

  /// How many bytes the handshake can use now, so that a caller reads none that are not its own.
  public int lacking() {
    return state == State.OVER ? 0 : incoming.lacking();
  }

  /// Takes bytes as they arrive, at most `lacking`, and leaves the rest. Not to be called when it
  /// is over.
  public HandshakeStep receive(ByteBuffer in) {
    if (state == State.OVER) {
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

  /// Whether our proof has gone out: from then on the peer may have accepted the connection, and
  /// takes its end for the loss of this node.
  public boolean hasProved() {
    return state != State.WAITS_FOR_CHALLENGE;
  }

  /// The connection has ended, for this reason. Returns what that means, in words. Nothing is
  /// decided by it: who has too many strangers to deal with ends connections, too, so that trying
  /// again is of use.
  public String ended(@Nullable String how) {
    return state == State.WAITS_FOR_PROOF
        ? "it closed the connection when we proved the job's secret (" + how + ")" + sameSecret()
        : String.valueOf(how);
  }

  private String sameSecret() {
    return "; do all processes have the same secret"
        + (binding.length == 0 ? "?" : ", and does nobody on the way decrypt?");
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
    state = State.OVER;
    return new HandshakeStep.Established(NOTHING, peer);
  }

  private HandshakeStep refused(String why) {
    state = State.OVER;
    return new HandshakeStep.Refused(NOTHING, why);
  }
}
