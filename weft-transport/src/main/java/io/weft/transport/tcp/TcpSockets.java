// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// How our sockets are set up, and small exchanges on them.
final class TcpSockets {

  /// Both directions; larger than any bandwidth-delay product of a data centre, and what the usual
  /// limits of Linux allow.
  static final int BUFFER_BYTES = 4 << 20;

  /// What Linux lets a socket towards the same host hold, to be asked for; it takes twice as much.
  /// It lies in the kernel until the peer reads it, and is read fast only from a cache; on the
  /// other hand each call costs (`docs/adr/0066`).
  static final int HOST_SEND_BYTES = 128 << 10;

  private TcpSockets() {}

  /// A socket to connect with.
  static SocketChannel open() throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
      return prepare(channel);
    } catch (IOException e) {
      close(channel);
      throw e;
    }
  }

  /// Sets up an accepted socket, whose receive buffer comes from the listener.
  static void accepted(SocketChannel channel) throws IOException {
    connected(prepare(channel));
  }

  private static SocketChannel prepare(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    return channel;
  }

  /// Sets up what depends on where the peer of a connected socket is: a sender has little in the
  /// kernel for a peer of its own host, where more makes both of them slow (`docs/adr/0066`).
  static void connected(SocketChannel channel) throws IOException {
    channel.setOption(
        StandardSocketOptions.SO_SNDBUF, isWithinHost(channel) ? HOST_SEND_BYTES : BUFFER_BYTES);
  }

  private static boolean isWithinHost(SocketChannel channel) throws IOException {
    return channel.getLocalAddress() instanceof InetSocketAddress own
        && channel.getRemoteAddress() instanceof InetSocketAddress peer
        && (peer.getAddress().isLoopbackAddress() || own.getAddress().equals(peer.getAddress()));
  }

  /// Sends what a handshake says, for which a fresh socket always has room.
  static void sendAll(SocketStream stream, ByteBuffer frame) throws IOException {
    int bytes = frame.remaining();
    int taken = bytes == 0 ? 0 : stream.write(frame);
    if (taken < bytes || !stream.flush()) {
      throw new IOException("the socket has no room for " + bytes + " bytes");
    }
  }

  /// Reads what there is of the next `bytes` of a handshake; ready to be taken from.
  static ByteBuffer read(SocketStream stream, int bytes) throws IOException {
    ByteBuffer read = ByteBuffer.allocate(bytes);
    if (stream.read(read) < 0) {
      throw new EOFException("closed during the handshake");
    }
    return read.flip();
  }

  /// Closes; a failure changes nothing any more.
  static void close(@Nullable Channel channel) {
    if (channel == null) {
      return;
    }
    try {
      channel.close();
    } catch (IOException e) {
      System.getLogger(TcpTransport.LOGGER)
          .log(System.Logger.Level.DEBUG, "closing a socket failed", e);
    }
  }
}
