// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Address;
import io.weft.transport.secure.Claim;
import io.weft.transport.secure.JobProof;
import io.weft.transport.secure.ProvedClaim;
import io.weft.transport.secure.Role;
import io.weft.transport.secure.Verdict;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// An accepted connection that has not proved anything yet. It costs 96 bytes, learns nothing but a
/// random number, and is closed without a word when its proof is wrong.
final class Stranger extends Pollable {

  private enum State {
    WAITS_FOR_HELLO,
    WAITS_FOR_PROOF,
    OVER
  }

  private final TcpTransport transport;
  private final SocketChannel channel;
  private final SocketAddress from;
  private final ByteBuffer incoming = HandshakeFrame.empty();
  private final long deadlineNanos;
  private @Nullable SelectionKey key;
  private State state = State.WAITS_FOR_HELLO;
  private byte[] hello = {};
  private byte[] nonce = {};

  Stranger(TcpTransport transport, SocketChannel channel, SocketAddress from, long deadlineNanos) {
    this.transport = transport;
    this.channel = channel;
    this.from = from;
    this.deadlineNanos = deadlineNanos;
    incoming.limit(HandshakeFrame.NONCE_BYTES);
  }

  void watch() throws IOException {
    key = transport.readiness().watch(channel, SelectionKey.OP_READ, this);
  }

  boolean isOver() {
    return state == State.OVER;
  }

  void tick(long nowNanos) {
    if (state != State.OVER && nowNanos - deadlineNanos > 0) {
      drop("it was silent for too long");
    }
  }

  /// Closes it, with one line in the log.
  void drop(String why) {
    transport.log().warning("dropped a connection from " + from + ": " + why);
    close();
  }

  void close() {
    state = State.OVER;
    TcpSockets.close(channel);
  }

  @Override
  int ready(long nowNanos) {
    SelectionKey registered = key;
    if (state == State.OVER || registered == null) {
      return 0;
    }
    try {
      if (TcpSockets.fill(channel, incoming)) {
        if (state == State.WAITS_FOR_HELLO) {
          answerHello();
        } else {
          answerProof(registered);
        }
      } else {
        checkStart();
      }
    } catch (ProtocolFault e) {
      drop("it sent " + e.getMessage());
    } catch (IOException e) {
      drop(String.valueOf(e.getMessage()));
    }
    return 1;
  }

  /// Foreign protocols are recognised by their first bytes and do not wait for the deadline.
  private void checkStart() throws ProtocolFault {
    if (incoming.position() >= HandshakeFrame.START_BYTES) {
      HandshakeFrame.checkStart(
          incoming.duplicate().order(incoming.order()).flip(),
          state == State.WAITS_FOR_HELLO ? HandshakeFrame.HELLO : HandshakeFrame.INITIATOR_PROOF);
    }
  }

  private void answerHello() throws IOException {
    hello = HandshakeFrame.readNonce(incoming.flip(), HandshakeFrame.HELLO);
    nonce = transport.proof().nonce();
    transport.countSent(
        TcpSockets.sendAll(channel, HandshakeFrame.nonce(HandshakeFrame.CHALLENGE, nonce)));
    state = State.WAITS_FOR_PROOF;
    incoming.clear().limit(HandshakeFrame.PROOF_BYTES);
  }

  private void answerProof(SelectionKey registered) throws IOException {
    ProvedClaim offered = HandshakeFrame.readProof(incoming.flip(), HandshakeFrame.INITIATOR_PROOF);
    JobProof proof = transport.proof();
    Claim peer = offered.claim();
    byte[] expected = proof.prove(Role.INITIATOR, hello, nonce, peer, offered.tag());
    if (!JobProof.same(expected, offered.proof())) {
      drop("it does not know the job's secret");
      return;
    }
    byte[] tag = proof.tag(hello, nonce);
    Verdict verdict = proof.judge(peer, tag, offered.tag());
    Claim own = proof.claim(peer.node(), verdict);
    byte[] mac = proof.prove(Role.RESPONDER, hello, nonce, own, tag);
    transport.countSent(
        TcpSockets.sendAll(
            channel,
            HandshakeFrame.proof(HandshakeFrame.RESPONDER_PROOF, new ProvedClaim(own, tag, mac))));
    if (verdict != Verdict.ACCEPTED) {
      drop("node " + peer.node() + ": " + proof.explain(verdict, peer, peer.wanted()));
      return;
    }
    state = State.OVER;
    Address address = new Address(TcpProvider.SCHEME, TcpAddress.format(from));
    transport.established(
        new TcpEndpoint(transport, peer.node(), address), channel, registered, peer.incarnation());
  }
}
