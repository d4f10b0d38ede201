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

/// Configures sockets, and exchanges handshake frames on them.
final class TcpSockets {

  /// The buffer size of both directions. It is larger than any bandwidth-delay product of a data
  /// centre and within Linux's usual limits.
  static final int BUFFER_BYTES = 4 << 20;

  /// The requested send buffer of a socket to the same host; Linux doubles it. The data then stays
  /// in a cache until the peer reads it; a still smaller buffer would cost more system calls
  /// (`docs/adr/0066`).
  static final int HOST_SEND_BYTES = 128 << 10;

  private TcpSockets() {}

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

  /// Configures an accepted socket, which inherits its receive buffer from the listener.
  static void accepted(SocketChannel channel) throws IOException {
    connected(prepare(channel));
  }

  private static SocketChannel prepare(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    return channel;
  }

  /// Sets the send buffer of a connected socket. It is small for a peer on the same host, because a
  /// large one slows both processes down (`docs/adr/0066`).
  static void connected(SocketChannel channel) throws IOException {
    channel.setOption(
        StandardSocketOptions.SO_SNDBUF, isWithinHost(channel) ? HOST_SEND_BYTES : BUFFER_BYTES);
  }

  private static boolean isWithinHost(SocketChannel channel) throws IOException {
    return channel.getLocalAddress() instanceof InetSocketAddress own
        && channel.getRemoteAddress() instanceof InetSocketAddress peer
        && (peer.getAddress().isLoopbackAddress() || own.getAddress().equals(peer.getAddress()));
  }

  /// Sends a frame of the handshake, for which a new socket always has room.
  static void sendAll(SocketStream stream, ByteBuffer frame) throws IOException {
    int bytes = frame.remaining();
    int taken = bytes == 0 ? 0 : stream.write(frame);
    if (taken < bytes || !stream.flush()) {
      throw new IOException("the socket has no room for " + bytes + " bytes");
    }
  }

  /// Reads the available part of the next `bytes` of a handshake and returns it ready for reading.
  static ByteBuffer read(SocketStream stream, int bytes) throws IOException {
    ByteBuffer read = ByteBuffer.allocate(bytes);
    if (stream.read(read) < 0) {
      throw new EOFException("closed during the handshake");
    }
    return read.flip();
  }

  /// Closes the channel and logs a failure.
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
