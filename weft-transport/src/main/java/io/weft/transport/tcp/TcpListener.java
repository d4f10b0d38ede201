// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.TransportException;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.limit.UnprovenLimit;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/// Accepts connections on exactly one address and keeps those that have not proved the secret.
/// `UnprovenLimit` bounds their number, and a deadline their duration.
final class TcpListener extends Pollable {

  static final int MAX_STRANGERS = 64;
  private static final long PAUSE_NANOS = 100_000_000L;

  /// Fewer than `MAX_STRANGERS`, so that waiting connections are served before new ones evict them.
  private static final int ACCEPTS_PER_CYCLE = 16;

  private static final int BACKLOG = 1024;

  private final TcpTransport transport;
  private final ServerSocketChannel channel;
  private final SocketAddress address;
  private final SelectionKey key;
  private final UnprovenLimit<UnprovenConnection> strangers = new UnprovenLimit<>(MAX_STRANGERS);
  private boolean paused;
  private long resumeAtNanos;

  TcpListener(TcpTransport transport, Readiness readiness, InetSocketAddress bind) {
    this.transport = transport;
    ServerSocketChannel opened = null;
    try {
      opened = ServerSocketChannel.open();
      opened.setOption(StandardSocketOptions.SO_RCVBUF, TcpSockets.BUFFER_BYTES);
      opened.configureBlocking(false);
      opened.bind(bind, BACKLOG);
      channel = opened;
      address = opened.getLocalAddress();
      key = readiness.watch(opened, SelectionKey.OP_ACCEPT, this);
    } catch (IOException e) {
      TcpSockets.close(opened);
      throw new TransportException.DeviceLost(
          "cannot listen on "
              + TcpAddress.format(bind)
              + ": "
              + e.getMessage()
              + remedy(e, transport.openFiles()),
          e);
    }
  }

  private static String remedy(IOException e, OpenFiles openFiles) {
    if (!(e instanceof BindException)) {
      return openFiles.advice(e);
    }
    return String.valueOf(e.getMessage()).contains("in use")
        ? "; choose another port (0 lets the system choose), or end the process that holds it"
        : "; it must be an address of this host, and ports below 1024 need privileges";
  }

  SocketAddress address() {
    return address;
  }

  /// Returns whether no connection is unproven and accepting is not paused.
  boolean isIdle() {
    return strangers.isEmpty() && !paused;
  }

  void tick(long nowNanos) {
    if (paused && nowNanos - resumeAtNanos >= 0) {
      paused = false;
      key.interestOps(SelectionKey.OP_ACCEPT);
    }
    if (strangers.isEmpty()) {
      return;
    }
    strangers.guests().forEach(stranger -> stranger.tick(nowNanos));
    strangers.leaveIf(UnprovenConnection::isEnded);
  }

  @Override
  int ready(long nowNanos) {
    int accepted = 0;
    try {
      while (accepted < ACCEPTS_PER_CYCLE) {
        SocketChannel socket = channel.accept();
        if (socket == null) {
          break;
        }
        accepted++;
        welcome(socket, nowNanos);
      }
    } catch (IOException e) {
      String trouble = "cannot accept a peer: " + e.getMessage() + transport.openFiles().advice(e);
      transport.hindered(trouble);
      transport.log().warning(trouble);
      paused = true;
      resumeAtNanos = nowNanos + PAUSE_NANOS;
      key.interestOps(0);
    }
    return accepted;
  }

  private void welcome(SocketChannel socket, long nowNanos) {
    try {
      TcpSockets.accepted(socket);
      SocketAddress from = socket.getRemoteAddress();
      UnprovenConnection stranger =
          new UnprovenConnection(
              transport,
              transport.answer(socket),
              from,
              nowNanos + transport.handshakeNanos(),
              strangers::spoke);
      stranger.watch();
      strangers
          .admit(stranger, source(from))
          .ifPresent(one -> one.drop("more than " + MAX_STRANGERS + " connections are unproven"));
    } catch (IOException e) {
      transport.log().debug("a connection went away while it was accepted: " + e.getMessage());
      TcpSockets.close(socket);
    }
  }

  private static Object source(SocketAddress from) {
    return from instanceof InetSocketAddress inet ? inet.getAddress() : from;
  }

  void close() {
    strangers.guests().forEach(UnprovenConnection::close);
    strangers.leaveIf(UnprovenConnection::isEnded);
    TcpSockets.close(channel);
  }
}
