// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// A stream that passes bytes to the socket unchanged.
final class PlainStream extends SocketStream {

  private static final byte[] NO_BINDING = {};

  PlainStream(SocketChannel socket) {
    super(socket);
  }

  @Override
  boolean secure() {
    return true;
  }

  @Override
  boolean wantsWork() {
    return false;
  }

  @Override
  void work() {
    // A plain stream has no handshake computation.
  }

  @Override
  byte[] binding() {
    return NO_BINDING;
  }

  @Override
  void open() {
    // The kernel provides the buffers.
  }

  @Override
  boolean flush() {
    return true;
  }

  @Override
  boolean isFlushed() {
    return true;
  }

  @Override
  boolean isReadable() {
    return false;
  }

  @Override
  void end() {
    // The end of the stream notifies the peer.
  }

  /// Hot path.
  @Override
  public int read(ByteBuffer into) throws IOException {
    return socket().read(into);
  }

  /// Hot path.
  @Override
  public long read(ByteBuffer[] into, int offset, int count) throws IOException {
    return socket().read(into, offset, count);
  }

  /// Hot path.
  @Override
  public int write(ByteBuffer from) throws IOException {
    int wrote = socket().write(from);
    countSent(wrote);
    return wrote;
  }

  /// Hot path.
  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    long wrote = socket().write(from, offset, count);
    countSent(wrote);
    return wrote;
  }
}
