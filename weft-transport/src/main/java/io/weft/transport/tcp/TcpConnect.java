// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.secure.HandshakeStep;
import io.weft.transport.secure.InitiatorHandshake;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// An outgoing connection attempt. It connects and runs the handshake. Until the deadline, it
/// retries while no process answers or the connection ends before the peer has decided. It fails at
/// once if the peer answers and does not belong to this job.
final class TcpConnect extends Pollable {

  private static final long FIRST_PAUSE_NANOS = 5_000_000;
  private static final long LONGEST_PAUSE_NANOS = 200_000_000;

  private enum State {
    PAUSING,
    CONNECTING,
    SECURING,
    SHAKING_HANDS,
    OVER
  }

  private final TcpTransport transport;
  private final TcpEndpoint endpoint;
  private final InetSocketAddress address;

  /// The time that an attempt waits, which is twice the handshake timeout of the other side.
  private final long answerNanos;

  private State state = State.PAUSING;
  private @Nullable SocketStream stream;
  private @Nullable SelectionKey key;
  private @Nullable InitiatorHandshake handshake;
  private long startNanos;
  private long retryAtNanos;
  private long attemptNanos;
  private long pauseNanos = FIRST_PAUSE_NANOS;
  private int attempts;
  private String lastFailure = "no attempt was made";

  TcpConnect(TcpTransport transport, TcpEndpoint endpoint, InetSocketAddress address) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.address = address;
    this.answerNanos = 2 * transport.handshakeNanos();
  }

  TcpEndpoint endpoint() {
    return endpoint;
  }

  boolean isEnded() {
    return state == State.OVER;
  }

  /// Advances the timers: starts, retries or gives up. Every poll calls it until the attempt has
  /// ended.
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
              + "; is the process running, and does a firewall block the connection?",
          null);
    } else if (state == State.PAUSING) {
      if (nowNanos - retryAtNanos >= 0) {
        attempt(nowNanos);
      }
    } else if (nowNanos - attemptNanos > answerNanos && !mayBeAccepted()) {
      again(nowNanos, "no answer within " + answerNanos / 1_000_000 + " ms");
    } else if (state == State.SECURING && mayWork()) {
      ready(nowNanos);
    }
  }

  /// Returns whether the peer may already have accepted: it would treat another attempt as a loss.
  private boolean mayBeAccepted() {
    InitiatorHandshake begun = handshake;
    return begun != null && begun.hasProved();
  }

  private boolean mayWork() {
    SocketStream open = stream;
    if (open == null || !open.wantsWork() || !transport.mayWork()) {
      return false;
    }
    open.work();
    return true;
  }

  private void attempt(long nowNanos) {
    attempts++;
    attemptNanos = nowNanos;
    try {
      SocketChannel socket = TcpSockets.open();
      SocketStream begun = transport.call(socket);
      stream = begun;
      boolean connected = socket.connect(address);
      state = State.CONNECTING;
      key =
          transport
              .readiness()
              .watch(socket, connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, this);
      if (connected) {
        connected(begun, key);
      }
    } catch (IOException e) {
      String advice = transport.openFiles().advice(e);
      if (!advice.isEmpty()) {
        transport.hindered("cannot open a connection: " + e.getMessage() + advice);
      }
      again(nowNanos, e.getMessage() + advice);
    }
  }

  @Override
  int ready(long nowNanos) {
    SocketStream open = stream;
    SelectionKey registered = key;
    if (open == null || registered == null || !endpoint.isOpen()) {
      return 0;
    }
    try {
      switch (state) {
        case CONNECTING -> {
          if (open.socket().finishConnect()) {
            connected(open, registered);
          }
        }
        case SECURING -> secure(open, registered);
        case SHAKING_HANDS -> handshake(open, registered);
        case PAUSING, OVER -> {
          return 0;
        }
      }
    } catch (ProtocolFault e) {
      giveUp("it answered with " + e.getMessage(), e);
    } catch (IOException e) {
      ended(nowNanos, e);
    } finally {
      transport.countSent(open.takeSent());
    }
    return 1;
  }

  private void connected(SocketStream open, SelectionKey registered) throws IOException {
    SocketChannel socket = open.socket();
    if (socket.getLocalAddress().equals(socket.getRemoteAddress())) {
      throw new IOException("no process listens (the socket connected to itself)");
    }
    TcpSockets.connected(socket);
    registered.interestOps(SelectionKey.OP_READ);
    state = State.SECURING;
    secure(open, registered);
  }

  private void secure(SocketStream open, SelectionKey registered) throws IOException {
    if (open.secure()) {
      var begun = new InitiatorHandshake(transport.proof(), endpoint.node(), open.binding());
      TcpSockets.sendAll(open, begun.hello());
      handshake = begun;
      state = State.SHAKING_HANDS;
      handshake(open, registered);
    }
  }

  private void handshake(SocketStream open, SelectionKey registered) throws IOException {
    InitiatorHandshake begun = handshake;
    while (begun != null && state == State.SHAKING_HANDS) {
      ByteBuffer in = TcpSockets.read(open, begun.lacking());
      if (!in.hasRemaining()) {
        return;
      }
      HandshakeStep step = begun.receive(in);
      TcpSockets.sendAll(open, step.reply());
      switch (step) {
        case HandshakeStep.Continued more -> {}
        case HandshakeStep.Refused refused -> giveUp(refused.why(), null);
        case HandshakeStep.Established established -> {
          state = State.OVER;
          transport.established(endpoint, open, registered, established.peer().incarnation());
        }
      }
    }
  }

  private void ended(long nowNanos, IOException e) {
    InitiatorHandshake begun = handshake;
    again(nowNanos, begun == null ? e.getMessage() : begun.ended(e.getMessage()));
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
    SocketStream open = stream;
    SelectionKey registered = key;
    if (open != null && registered != null && open.isOpen()) {
      transport.abandon(open, registered);
    }
    stream = null;
    state = State.OVER;
    endpoint.fail(endpoint.exception(why, cause));
  }

  /// Closes the current socket.
  void abandon() {
    SocketStream open = stream;
    if (open != null) {
      open.close();
    }
    stream = null;
    key = null;
  }
}
