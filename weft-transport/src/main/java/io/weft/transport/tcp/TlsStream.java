// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.tls.TlsPipe;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLException;

/// A stream that TLS encrypts and authenticates. Its buffer of at most 16 records keeps encrypted
/// data until the kernel accepts it. While any data is in the buffer, the stream accepts no more.
final class TlsStream extends SocketStream {

  /// Handshakes are shorter; an unproven peer may not send more.
  private static final int MAX_UNPROVED_BYTES = 1 << 16;

  private final TlsPipe pipe;
  private final ByteBuffer[] one = new ByteBuffer[1];
  private boolean wantsWork;
  private boolean proved;
  private long unproved;

  TlsStream(SocketChannel socket, TlsPipe pipe) {
    super(socket);
    this.pipe = pipe;
  }

  @Override
  boolean secure() throws IOException {
    try {
      while (true) {
        switch (pipe.handshake()) {
          case WORK -> {
            wantsWork = true;
            return false;
          }
          case SENDING -> flushAll();
          case RECEIVING -> {
            flushAll();
            if (!fillOnce()) {
              return false;
            }
          }
          case NOTHING -> {
            return true;
          }
        }
      }
    } catch (SSLException e) {
      throw new ProtocolFault(String.valueOf(e.getMessage()));
    }
  }

  private void flushAll() throws IOException {
    if (!flush()) {
      throw new IOException("the socket has no room for a handshake");
    }
  }

  /// Receives bytes; returns whether any arrived.
  private boolean fillOnce() throws IOException {
    int got = fill();
    if (got < 0) {
      throw new EOFException("closed during the handshake of TLS");
    }
    return got > 0;
  }

  @Override
  boolean wantsWork() {
    return wantsWork;
  }

  @Override
  void work() {
    wantsWork = false;
    pipe.work();
  }

  @Override
  byte[] binding() throws IOException {
    return pipe.binding();
  }

  @Override
  void open() {
    proved = true;
    pipe.open();
  }

  /// Hot path.
  @Override
  boolean flush() throws IOException {
    while (!pipe.isSent()) {
      int wrote = socket().write(pipe.unsent());
      pipe.sent(wrote);
      countSent(wrote);
      if (wrote == 0) {
        return false;
      }
    }
    return true;
  }

  /// Hot path.
  @Override
  boolean isFlushed() {
    return pipe.isSent();
  }

  /// Hot path.
  @Override
  boolean isReadable() {
    return pipe.isReadable();
  }

  @Override
  void end() {
    pipe.end();
  }

  /// Hot path.
  @Override
  public int write(ByteBuffer from) throws IOException {
    one[0] = from;
    return (int) write(one, 0, 1);
  }

  /// Hot path.
  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    long taken = 0;
    while (flush()) {
      long step = pipe.encrypt(from, offset, count);
      if (step == 0) {
        break;
      }
      taken += step;
    }
    return taken;
  }

  /// Hot path.
  @Override
  public int read(ByteBuffer into) throws IOException {
    one[0] = into;
    return (int) read(one, 0, 1);
  }

  /// Hot path.
  @Override
  public long read(ByteBuffer[] into, int offset, int count) throws IOException {
    try {
      long got = pipe.decrypt(into, offset, count);
      boolean more = got >= 0;
      while (more && !pipe.isReadable() && hasRemaining(into, offset, count)) {
        int room = pipe.room().remaining();
        int came = fill();
        if (came <= 0) {
          return got == 0 ? came : got;
        }
        long step = pipe.decrypt(into, offset, count);
        if (step < 0) {
          return got == 0 ? -1 : got;
        }
        got += step;
        more = came == room;
      }
      return got;
    } catch (SSLException e) {
      throw refused(e);
    }
  }

  private IOException refused(SSLException e) {
    return proved
        ? new IOException(
            "received data failed TLS authentication ("
                + e.getMessage()
                + "); it was modified in transit, or the peer found our data modified",
            e)
        : new ProtocolFault(String.valueOf(TlsPipe.explained(e).getMessage()));
  }

  private int fill() throws IOException {
    int got = socket().read(pipe.room());
    if (got > 0) {
      pipe.received(got);
      unproved += proved ? 0 : got;
    }
    if (unproved > MAX_UNPROVED_BYTES) {
      throw new ProtocolFault("more than " + MAX_UNPROVED_BYTES + " bytes before any proof");
    }
    return got;
  }

  private static boolean hasRemaining(ByteBuffer[] buffers, int offset, int count) {
    for (int i = offset; i < offset + count; i++) {
      if (buffers[i].hasRemaining()) {
        return true;
      }
    }
    return false;
  }
}
