// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Address;
import io.weft.transport.secure.Claim;
import io.weft.transport.secure.HandshakeStep;
import io.weft.transport.secure.ResponderHandshake;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// An accepted connection that has not proved anything yet. It costs 96 bytes, learns nothing but a
/// random number, and is closed without a word when its proof is wrong.
final class Stranger extends Pollable {

  private final TcpTransport transport;
  private final SocketChannel channel;
  private final SocketAddress from;
  private final ResponderHandshake handshake;
  private final long deadlineNanos;
  private @Nullable SelectionKey key;
  private boolean over;

  Stranger(TcpTransport transport, SocketChannel channel, SocketAddress from, long deadlineNanos) {
    this.transport = transport;
    this.channel = channel;
    this.from = from;
    this.deadlineNanos = deadlineNanos;
    handshake = new ResponderHandshake(transport.proof());
  }

  void watch() throws IOException {
    key = transport.readiness().watch(channel, SelectionKey.OP_READ, this);
  }

  boolean isOver() {
    return over;
  }

  void tick(long nowNanos) {
    if (!over && nowNanos - deadlineNanos > 0) {
      drop("it was silent for too long");
    }
  }

  /// Closes it, with one line in the log.
  void drop(String why) {
    transport.log().warning("dropped a connection from " + from + ": " + why);
    close();
  }

  void close() {
    over = true;
    TcpSockets.close(channel);
  }

  @Override
  int ready(long nowNanos) {
    SelectionKey registered = key;
    if (over || registered == null) {
      return 0;
    }
    try {
      HandshakeStep step = handshake.receive(TcpSockets.read(channel, handshake.lacking()));
      transport.countSent(TcpSockets.sendAll(channel, step.reply()));
      switch (step) {
        case HandshakeStep.Continued more -> {}
        case HandshakeStep.Refused refused -> drop(refused.why());
        case HandshakeStep.Established established -> accept(established.peer(), registered);
      }
    } catch (IOException e) {
      drop(String.valueOf(e.getMessage()));
    }
    return 1;
  }

  private void accept(Claim peer, SelectionKey registered) {
    over = true;
    Address address = new Address(TcpProvider.SCHEME, TcpAddress.format(from));
    transport.established(
        new TcpEndpoint(transport, peer.node(), address), channel, registered, peer.incarnation());
  }
}
