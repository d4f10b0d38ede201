// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import io.weft.transport.tls.TlsMark;
import java.nio.ByteBuffer;

/// The handshake of the side that was called. The caller passes every received byte to `receive`
/// until it returns something other than `Continued`. A stranger occupies 96 bytes and learns only
/// a random number, and that its proof is wrong. The class performs no I/O and uses no clock; the
/// caller limits the duration and number of handshakes. Confined to one thread.
public final class ResponderHandshake {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] NO_BINDING = {};

  private enum State {
    WAITS_FOR_HELLO,
    WAITS_FOR_PROOF,
    ENDED
  }

  private final JobProof proof;
  private final byte[] binding;
  private final IncomingFrame incoming = new IncomingFrame();
  private byte[] hello = {};
  private byte[] nonce = {};
  private State state = State.WAITS_FOR_HELLO;

  /// Creates a handshake with an unknown caller.
  public ResponderHandshake(JobProof proof) {
    this(proof, NO_BINDING);
  }

  /// Creates a handshake inside an encrypted channel. Only the channel's two ends know the
  /// `binding` of 32 bytes. The proofs cover it, so that an attacker cannot relay them from one
  /// channel to another.
  public ResponderHandshake(JobProof proof, byte[] binding) {
    this.proof = proof;
    this.binding = binding.clone();
    incoming.expect(HandshakeFrame.HELLO, HandshakeFrame.NONCE_BYTES);
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
      return refused(incoming.isTls() ? TlsMark.refusal() : NOTHING, "it sent " + fault);
    }
    if (incoming.lacking() > 0) {
      return new HandshakeStep.Continued(NOTHING);
    }
    return state == State.WAITS_FOR_HELLO ? greeted() : proved();
  }

  private HandshakeStep greeted() {
    hello = incoming.nonce();
    nonce = proof.nonce();
    incoming.expect(HandshakeFrame.INITIATOR_PROOF, HandshakeFrame.PROOF_BYTES);
    state = State.WAITS_FOR_PROOF;
    return new HandshakeStep.Continued(HandshakeFrame.nonce(HandshakeFrame.CHALLENGE, nonce));
  }

  private HandshakeStep proved() {
    ProvedClaim offered = incoming.proof();
    Claim peer = offered.claim();
    byte[] expected = proof.prove(Role.INITIATOR, hello, nonce, peer, offered.tag(), binding);
    if (!JobProof.same(expected, offered.proof())) {
      return refused(HandshakeFrame.refusal(), JobProof.stranger(binding));
    }
    byte[] tag = proof.tag(hello, nonce);
    HandshakeReply verdict = proof.judge(peer, tag, offered.tag());
    Claim own = proof.claim(peer.node(), verdict);
    byte[] mac = proof.prove(Role.RESPONDER, hello, nonce, own, tag, binding);
    ByteBuffer answer =
        HandshakeFrame.proof(HandshakeFrame.RESPONDER_PROOF, new ProvedClaim(own, tag, mac));
    if (verdict != HandshakeReply.ACCEPTED) {
      return refused(
          answer, "rank " + peer.node() + ": " + proof.explain(verdict, peer, peer.wanted()));
    }
    state = State.ENDED;
    return new HandshakeStep.Established(answer, peer);
  }

  private HandshakeStep refused(ByteBuffer reply, String why) {
    state = State.ENDED;
    return new HandshakeStep.Refused(reply, why);
  }
}
