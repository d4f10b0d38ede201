// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.SocketChannel;

/// The application's bytes of one connection, independent of encryption on the wire. Its methods
/// never block. Polling thread only.
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

  /// Advances the set-up of the stream; returns whether the stream is usable. Before that, callers
  /// may use, of the abstract methods, only `wantsWork`, `work` and `end`, and `flush` after `end`.
  abstract boolean secure() throws IOException;

  /// Returns whether `secure` needs a call of `work`, which computes for up to a few milliseconds;
  /// one poll makes only a few such calls.
  abstract boolean wantsWork();

  abstract void work();

  /// Returns a value that only the two ends know; empty without encryption.
  abstract byte[] binding() throws IOException;

  /// Enlarges the buffers after the peer has proved itself.
  abstract void open();

  /// Sends accepted data; returns whether none is left.
  abstract boolean flush() throws IOException;

  /// Returns whether no data waits for `flush`.
  abstract boolean isFlushed();

  /// Returns whether `read` would return data that the selector cannot report.
  abstract boolean isReadable();

  /// Tells the peer that the stream ends, or why; the last bytes may wait for `flush`.
  abstract void end();

  /// Returns the count of bytes passed to the kernel since the last call.
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
