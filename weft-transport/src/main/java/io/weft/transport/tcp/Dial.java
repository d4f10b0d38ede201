// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.secure.HandshakeStep;
import io.weft.transport.secure.InitiatorHandshake;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The initiator's way to an endpoint: connect, again until the deadline while nobody answers, then
/// the handshake. Fails at once when the peer answers and does not belong to us.
final class Dial extends Pollable {

  private static final long FIRST_PAUSE_NANOS = 5_000_000;
  private static final long LONGEST_PAUSE_NANOS = 200_000_000;

  private enum State {
    PAUSING,
    CONNECTING,
    SHAKING_HANDS,
    OVER
  }

  private final TcpTransport transport;
  private final TcpEndpoint endpoint;
  private final InetSocketAddress address;
  private State state = State.PAUSING;
  private @Nullable SocketChannel channel;
  private @Nullable SelectionKey key;
  private @Nullable InitiatorHandshake handshake;
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
        case SHAKING_HANDS -> shakeHands(socket, registered);
        case PAUSING, OVER -> {
          return 0;
        }
      }
    } catch (IOException e) {
      ended(nowNanos, e);
    }
    return 1;
  }

  private void connected(SocketChannel socket, SelectionKey registered) throws IOException {
    if (socket.getLocalAddress().equals(socket.getRemoteAddress())) {
      throw new IOException("nobody listens (the socket met itself)");
    }
    registered.interestOps(SelectionKey.OP_READ);
    InitiatorHandshake begun = new InitiatorHandshake(transport.proof(), endpoint.node());
    transport.countSent(TcpSockets.sendAll(socket, begun.hello()));
    handshake = begun;
    state = State.SHAKING_HANDS;
  }

  private void shakeHands(SocketChannel socket, SelectionKey registered) throws IOException {
    InitiatorHandshake begun = handshake;
    if (begun == null) {
      return;
    }
    HandshakeStep step = begun.receive(TcpSockets.read(socket, begun.lacking()));
    transport.countSent(TcpSockets.sendAll(socket, step.reply()));
    switch (step) {
      case HandshakeStep.Continued more -> {}
      case HandshakeStep.Refused refused -> giveUp(refused.why(), null);
      case HandshakeStep.Established established -> {
        state = State.OVER;
        transport.established(endpoint, socket, registered, established.peer().incarnation());
      }
    }
  }

  private void ended(long nowNanos, IOException e) {
    InitiatorHandshake begun = handshake;
    Optional<String> why = begun == null ? Optional.empty() : begun.ended(e.getMessage());
    if (why.isPresent()) {
      giveUp(why.get(), e);
    } else {
      again(nowNanos, e.getMessage());
    }
  }

  private void again(long nowNanos, @Nullable String failure) {
    abandon();
    handshake = null;
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
