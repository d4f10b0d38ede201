// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.secure.Claim;
import io.weft.transport.secure.JobProof;
import io.weft.transport.secure.ProvedClaim;
import io.weft.transport.secure.Role;
import io.weft.transport.secure.Verdict;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// The initiator's way to an endpoint: connect, again until the deadline while nobody answers, then
/// the handshake. Fails at once when the peer answers and does not belong to us.
final class Dial extends Pollable {

  private static final long FIRST_PAUSE_NANOS = 5_000_000;
  private static final long LONGEST_PAUSE_NANOS = 200_000_000;

  private enum State {
    PAUSING,
    CONNECTING,
    WAITS_FOR_CHALLENGE,
    WAITS_FOR_PROOF,
    OVER
  }

  private final TcpTransport transport;
  private final TcpEndpoint endpoint;
  private final InetSocketAddress address;
  private final ByteBuffer incoming = HandshakeFrame.empty();
  private State state = State.PAUSING;
  private @Nullable SocketChannel channel;
  private @Nullable SelectionKey key;
  private byte[] nonce = {};
  private byte[] challenge = {};
  private long startNanos;
  private long retryAtNanos;
  private long pauseNanos = FIRST_PAUSE_NANOS;
  private int attempts;
  private String lastFailure = "nothing happened yet";

  Dial(TcpTransport transport, TcpEndpoint endpoint, InetSocketAddress address) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.address = address;
  }

  TcpEndpoint endpoint() {
    return endpoint;
  }

  boolean isOver() {
    return state == State.OVER;
  }

  /// Keeps time: starts, tries again, gives up. Called by every poll until it is over.
  void tick(long nowNanos) {
    if (state == State.OVER) {
      return;
    }
    if (!endpoint.isOpen()) {
      abandon();
      state = State.OVER;
      return;
    }
    if (attempts == 0) {
      startNanos = nowNanos;
      retryAtNanos = nowNanos;
    }
    long waited = nowNanos - startNanos;
    if (waited > transport.connectNanos()) {
      giveUp(
          "not connected after "
              + waited / 1_000_000
              + " ms and "
              + attempts
              + " attempts: "
              + lastFailure
              + "; is the process running, and is nothing in the way?",
          null);
    } else if (state == State.PAUSING && nowNanos - retryAtNanos >= 0) {
      attempt(nowNanos);
    }
  }

  private void attempt(long nowNanos) {
    attempts++;
    try {
      SocketChannel socket = TcpSockets.open();
      channel = socket;
      boolean connected = socket.connect(address);
      state = State.CONNECTING;
      key =
          transport
              .readiness()
              .watch(socket, connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, this);
      if (connected) {
        connected(socket, key);
      }
    } catch (IOException e) {
      again(nowNanos, e.getMessage());
    }
  }

  @Override
  int ready(long nowNanos) {
    SocketChannel socket = channel;
    SelectionKey registered = key;
    if (socket == null || registered == null || !endpoint.isOpen()) {
      return 0;
    }
    try {
      switch (state) {
        case CONNECTING -> {
          if (socket.finishConnect()) {
            connected(socket, registered);
          }
        }
        case WAITS_FOR_CHALLENGE -> {
          if (TcpSockets.fill(socket, incoming)) {
            challenged(socket);
          }
        }
        case WAITS_FOR_PROOF -> {
          if (TcpSockets.fill(socket, incoming)) {
            proved(socket, registered);
          }
        }
        case PAUSING, OVER -> {
          return 0;
        }
      }
    } catch (ProtocolFault e) {
      giveUp("it answered with " + e.getMessage(), e);
    } catch (IOException e) {
      if (state == State.WAITS_FOR_PROOF) {
        giveUp(
            "it closed the connection when we proved the job's secret ("
                + e.getMessage()
                + "); do all processes have the same secret?",
            e);
      } else {
        again(nowNanos, e.getMessage());
      }
    }
    return 1;
  }

  private void connected(SocketChannel socket, SelectionKey registered) throws IOException {
    if (socket.getLocalAddress().equals(socket.getRemoteAddress())) {
      throw new IOException("nobody listens (the socket met itself)");
    }
    registered.interestOps(SelectionKey.OP_READ);
    nonce = transport.proof().nonce();
    transport.countSent(
        TcpSockets.sendAll(socket, HandshakeFrame.nonce(HandshakeFrame.HELLO, nonce)));
    state = State.WAITS_FOR_CHALLENGE;
    incoming.clear().limit(HandshakeFrame.NONCE_BYTES);
  }

  private void challenged(SocketChannel socket) throws IOException {
    challenge = HandshakeFrame.readNonce(incoming.flip(), HandshakeFrame.CHALLENGE);
    JobProof proof = transport.proof();
    Claim claim = proof.claim(endpoint.node(), Verdict.ACCEPTED);
    byte[] tag = proof.tag(nonce, challenge);
    byte[] mac = proof.prove(Role.INITIATOR, nonce, challenge, claim, tag);
    state = State.WAITS_FOR_PROOF;
    incoming.clear().limit(HandshakeFrame.PROOF_BYTES);
    transport.countSent(
        TcpSockets.sendAll(
            socket,
            HandshakeFrame.proof(
                HandshakeFrame.INITIATOR_PROOF, new ProvedClaim(claim, tag, mac))));
  }

  private void proved(SocketChannel socket, SelectionKey registered) throws IOException {
    ProvedClaim answer = HandshakeFrame.readProof(incoming.flip(), HandshakeFrame.RESPONDER_PROOF);
    JobProof proof = transport.proof();
    Claim claim = answer.claim();
    byte[] mac = proof.prove(Role.RESPONDER, nonce, challenge, claim, answer.tag());
    if (!JobProof.same(mac, answer.proof())) {
      giveUp("it does not know the job's secret; is another job listening there?", null);
      return;
    }
    Verdict verdict = Verdict.of(claim.verdict());
    if (verdict == Verdict.ACCEPTED) {
      verdict = proof.check(claim, endpoint.node(), nonce, challenge, answer.tag());
    }
    if (verdict != Verdict.ACCEPTED) {
      giveUp("refused: " + proof.explain(verdict, claim, endpoint.node()), null);
      return;
    }
    state = State.OVER;
    transport.established(endpoint, socket, registered, claim.incarnation());
  }

  private void again(long nowNanos, @Nullable String failure) {
    abandon();
    lastFailure = String.valueOf(failure);
    state = State.PAUSING;
    retryAtNanos = nowNanos + pauseNanos;
    pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
  }

  private void giveUp(String why, @Nullable Throwable cause) {
    abandon();
    state = State.OVER;
    endpoint.fail(endpoint.exception(why, cause));
  }

  /// Closes what is open.
  void abandon() {
    TcpSockets.close(channel);
    channel = null;
    key = null;
  }
}
