// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.secure.Claim;
import io.weft.transport.secure.JobProof;
import io.weft.transport.secure.ProvedClaim;
import io.weft.transport.secure.Role;
import io.weft.transport.secure.Verdict;
import org.jspecify.annotations.Nullable;

/// The initiator's way to an endpoint: find the peer by its name, again until the deadline while
/// nobody has it, then wait for its answer. In one JVM nothing can be replayed, so the initiator
/// draws both nonces.
final class Call {

  private final InprocTransport transport;
  private final InprocEndpoint endpoint;
  private final String name;
  private @Nullable Line line;
  private @Nullable InprocTransport called;
  private boolean started;
  private boolean over;
  private long startNanos;

  Call(InprocTransport transport, InprocEndpoint endpoint, String name) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.name = name;
  }

  InprocEndpoint endpoint() {
    return endpoint;
  }

  boolean isOver() {
    return over;
  }

  /// One step; returns the amount of work.
  int tick(long nowNanos) {
    if (over) {
      return 0;
    }
    if (!started) {
      started = true;
      startNanos = nowNanos;
    }
    Line waiting = line;
    InprocTransport peer = called;
    if (!endpoint.isOpen()) {
      over = true;
      if (waiting != null) {
        waiting.close(true, "it closed its endpoint");
      }
    } else if (waiting == null || peer == null) {
      ring();
    } else if (waiting.answer() != null) {
      over = true;
      judge(waiting, peer, waiting.answer());
      return 1;
    } else if (waiting.ended() != null) {
      giveUp(waiting.ended());
    }
    long waited = nowNanos - startNanos;
    if (!over && waited > transport.connectNanos()) {
      if (waiting != null) {
        waiting.close(true, "it waited for too long");
      }
      giveUp(
          "not connected after "
              + waited / 1_000_000
              + " ms: "
              + (waiting == null ? "nobody has this name" : "the peer does not poll")
              + "; is its transport open and polled?");
    }
    return 0;
  }

  private void ring() {
    InprocTransport peer = Names.ofProcess().find(name);
    if (peer == null) {
      return;
    }
    JobProof proof = transport.proof();
    byte[] nonce = proof.nonce();
    byte[] responderNonce = proof.nonce();
    Claim claim = proof.claim(endpoint.node(), Verdict.ACCEPTED);
    byte[] tag = proof.tag(nonce, responderNonce);
    byte[] mac = proof.prove(Role.INITIATOR, nonce, responderNonce, claim, tag);
    Line offered = new Line(nonce, responderNonce, new ProvedClaim(claim, tag, mac), transport);
    if (peer.ring(offered)) {
      line = offered;
      called = peer;
    }
  }

  private void judge(Line answered, InprocTransport peer, ProvedClaim answer) {
    JobProof proof = transport.proof();
    Claim claim = answer.claim();
    byte[] mac =
        proof.prove(
            Role.RESPONDER, answered.initiatorNonce, answered.responderNonce, claim, answer.tag());
    if (!JobProof.same(mac, answer.proof())) {
      giveUp("it does not know the job's secret; is another job listening there?");
      return;
    }
    Verdict verdict = Verdict.of(claim.verdict());
    if (verdict == Verdict.ACCEPTED) {
      verdict =
          proof.check(
              claim,
              endpoint.node(),
              answered.initiatorNonce,
              answered.responderNonce,
              answer.tag());
    }
    if (verdict == Verdict.ACCEPTED) {
      transport.established(endpoint, answered, peer);
    } else {
      giveUp("refused: " + proof.explain(verdict, claim, endpoint.node()));
    }
  }

  private void giveUp(@Nullable String why) {
    over = true;
    endpoint.fail(endpoint.exception(String.valueOf(why), null));
  }
}
