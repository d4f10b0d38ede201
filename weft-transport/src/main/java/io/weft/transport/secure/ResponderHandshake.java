// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import io.weft.transport.tls.TlsMark;
import java.nio.ByteBuffer;

/// The handshake of the side that was called: every byte that comes in goes through `receive` until
/// that says something else than `Continued`. A stranger costs it 96 bytes and learns nothing but a
/// random number. Does no input or output and knows no time: the caller limits how long and how
/// many. Confined to one thread.
public final class ResponderHandshake {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] NO_BINDING = {};

  private enum State {
    WAITS_FOR_HELLO,
    WAITS_FOR_PROOF,
    OVER
  }

  private final JobProof proof;
  private final byte[] binding;
  private final IncomingFrame incoming = new IncomingFrame();
  private byte[] hello = {};
  private byte[] nonce = {};
  private State state = State.WAITS_FOR_HELLO;

  /// A handshake with whoever has called.
  public ResponderHandshake(JobProof proof) {
    this(proof, NO_BINDING);
  }

  /// The same inside an encrypted channel, whose `binding` only its two ends know: 32 bytes that
  /// the proofs cover, so that nobody can carry them from one channel to another.
  public ResponderHandshake(JobProof proof, byte[] binding) {
    this.proof = proof;
    this.binding = binding.clone();
    incoming.expect(HandshakeFrame.HELLO, HandshakeFrame.NONCE_BYTES);
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
    state = State.OVER;
    return new HandshakeStep.Established(answer, peer);
  }

  private HandshakeStep refused(ByteBuffer reply, String why) {
    state = State.OVER;
    return new HandshakeStep.Refused(reply, why);
  }
}
