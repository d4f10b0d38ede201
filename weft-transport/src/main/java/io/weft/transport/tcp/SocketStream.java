// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.SocketChannel;

/// The bytes of one connection as its two ends mean them, whether or not they are encrypted on the
/// way. Never blocks. Polling thread.
abstract sealed class SocketStream implements ScatteringByteChannel, GatheringByteChannel
    permits PlainStream, TlsStream {

  private final SocketChannel socket;
  private long sent;

  SocketStream(SocketChannel socket) {
    this.socket = socket;
  }

  final SocketChannel socket() {
    return socket;
  }

  /// Makes the stream usable, as far as that goes now; whether it is. Until then nothing else is
  /// called but `wantsWork`, `work` and `end`.
  abstract boolean secure() throws IOException;

  /// Whether `secure` waits for `work`: up to a few milliseconds of arithmetic, of which a poll
  /// does not do many.
  abstract boolean wantsWork();

  abstract void work();

  /// What only the two ends know, or nothing.
  abstract byte[] binding() throws IOException;

  /// The peer is proved: much may be under way from here on.
  abstract void open();

  /// Sends what this stream has taken and not sent; whether nothing is left.
  abstract boolean flush() throws IOException;

  /// Whether nothing waits for `flush`.
  abstract boolean isFlushed();

  /// Whether `read` would return something of which the selector does not know.
  abstract boolean isReadable();

  /// Tells the peer that nothing more comes, or why; what it is told may wait for `flush`.
  abstract void end();

  /// Bytes given to the kernel since the last call.
  final long takeSent() {
    long since = sent;
    sent = 0;
    return since;
  }

  final void countSent(long bytes) {
    sent += bytes;
  }

  @Override
  public final long read(ByteBuffer[] into) throws IOException {
    return read(into, 0, into.length);
  }

  @Override
  public final long write(ByteBuffer[] from) throws IOException {
    return write(from, 0, from.length);
  }

  @Override
  public final boolean isOpen() {
    return socket.isOpen();
  }

  @Override
  public final void close() {
    TcpSockets.close(socket);
  }
}
