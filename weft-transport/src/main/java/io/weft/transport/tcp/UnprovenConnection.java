// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Address;
import io.weft.transport.secure.Claim;
import io.weft.transport.secure.HandshakeStep;
import io.weft.transport.secure.ResponderHandshake;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// An accepted connection that has not proved the secret. It occupies 96 bytes, or with TLS some
/// 100 KiB and a few milliseconds of computation, which is rate-limited. The peer learns only a
/// random number and that its proof is wrong.
final class UnprovenConnection extends Pollable {

  private final TcpTransport transport;
  private final SocketStream stream;
  private final SocketAddress from;
  private final long deadlineNanos;
  private final Consumer<UnprovenConnection> spoke;
  private @Nullable ResponderHandshake handshake;
  private @Nullable SelectionKey key;
  private boolean ended;

  /// Creates a connection; `spoke` is called when it has sent meaningful data.
  UnprovenConnection(
      TcpTransport transport,
      SocketStream stream,
      SocketAddress from,
      long deadlineNanos,
      Consumer<UnprovenConnection> spoke) {
    this.transport = transport;
    this.stream = stream;
    this.from = from;
    this.deadlineNanos = deadlineNanos;
    this.spoke = spoke;
  }

  void watch() throws IOException {
    key = transport.readiness().watch(stream.socket(), SelectionKey.OP_READ, this);
  }

  boolean isEnded() {
    return ended;
  }

  void tick(long nowNanos) {
    if (!ended && nowNanos - deadlineNanos > 0) {
      drop("it was silent for too long");
    } else if (!ended && stream.wantsWork() && transport.mayWorkForStranger()) {
      stream.work();
      advance();
    }
  }

  /// Closes it and logs the reason.
  void drop(String why) {
    warn(why);
    close();
  }

  private void warn(String why) {
    transport.log().warning("dropped a connection from " + from + ": " + why);
  }

  /// Closes it in a way that lets the peer read its last frame.
  private void dismiss(String why, SelectionKey registered) {
    ended = true;
    warn(why);
    transport.abandon(stream, registered);
  }

  void close() {
    ended = true;
    stream.close();
  }

  @Override
  int ready(long nowNanos) {
    advance();
    return 1;
  }

  private void advance() {
    SelectionKey registered = key;
    if (ended || registered == null) {
      return;
    }
    try {
      ResponderHandshake begun = handshake;
      if (begun == null) {
        if (!stream.secure()) {
          return;
        }
        begun = new ResponderHandshake(transport.proof(), stream.binding());
        handshake = begun;
      }
      handshake(begun, registered);
    } catch (ProtocolFault e) {
      dismiss("it sent " + e.getMessage(), registered);
    } catch (IOException e) {
      drop(String.valueOf(e.getMessage()));
    } finally {
      transport.countSent(stream.takeSent());
    }
  }

  private void handshake(ResponderHandshake begun, SelectionKey registered) throws IOException {
    while (!ended) {
      ByteBuffer in = TcpSockets.read(stream, begun.lacking());
      if (!in.hasRemaining()) {
        return;
      }
      HandshakeStep step = begun.receive(in);
      boolean said = step.reply().hasRemaining();
      TcpSockets.sendAll(stream, step.reply());
      switch (step) {
        case HandshakeStep.Continued more when said -> spoke.accept(this);
        case HandshakeStep.Continued more -> {}
        case HandshakeStep.Refused refused when said -> dismiss(refused.why(), registered);
        case HandshakeStep.Refused refused -> drop(refused.why());
        case HandshakeStep.Established established -> accept(established.peer(), registered);
      }
    }
  }

  private void accept(Claim peer, SelectionKey registered) {
    ended = true;
    Address address = new Address(TcpProvider.SCHEME, TcpAddress.format(from));
    transport.established(
        new TcpEndpoint(transport, peer.node(), address), stream, registered, peer.incarnation());
  }
}
