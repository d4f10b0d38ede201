// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;

/// TLS over a pair of blocking streams, as a pair of blocking streams. Written data is sent by
/// `flush`. Confined to one thread at a time.
public final class TlsStreams {

  private final TlsPipe pipe;
  private final InputStream networkIn;
  private final OutputStream networkOut;
  private final InputStream input = new Decrypting();
  private final OutputStream output = new Encrypting();

  /// Creates TLS over these streams; the caller must call `handshake` first.
  public TlsStreams(TlsPipe pipe, InputStream networkIn, OutputStream networkOut) {
    this.pipe = pipe;
    this.networkIn = networkIn;
    this.networkOut = networkOut;
  }

  /// Performs the handshake. If the peer's data is invalid, it notifies the peer and throws
  /// `SSLException`, which describes the data.
  public void handshake() throws IOException {
    try {
      for (TlsPipe.Need need = pipe.handshake();
          need != TlsPipe.Need.NOTHING;
          need = pipe.handshake()) {
        switch (need) {
          case WORK -> pipe.work();
          case SENDING -> send();
          case RECEIVING -> {
            send();
            if (!receive()) {
              throw new EOFException("closed during the handshake of TLS");
            }
          }
          case NOTHING -> throw new IllegalStateException("the loop has ended");
        }
      }
    } catch (SSLException e) {
      pipe.end();
      send();
      throw e;
    }
  }

  /// Returns a value that only the two ends know; see `TlsParty.binding`.
  public byte[] binding() throws IOException {
    return pipe.binding();
  }

  /// Returns the stream of decrypted data from the peer.
  public InputStream input() {
    return input;
  }

  /// Returns the stream of data to encrypt for the peer.
  public OutputStream output() {
    return output;
  }

  private void send() throws IOException {
    ByteBuffer unsent = pipe.unsent();
    int bytes = unsent.remaining();
    if (bytes > 0) {
      networkOut.write(unsent.array(), unsent.arrayOffset() + unsent.position(), bytes);
      networkOut.flush();
      pipe.sent(bytes);
    }
  }

  private boolean receive() throws IOException {
    ByteBuffer room = pipe.room();
    int got = networkIn.read(room.array(), room.arrayOffset() + room.position(), room.remaining());
    pipe.received(Math.max(got, 0));
    return got >= 0;
  }

  private final class Decrypting extends InputStream {

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      ByteBuffer[] room = {ByteBuffer.wrap(into, offset, length)};
      long got = pipe.decrypt(room, 0, 1);
      while (got == 0 && length > 0) {
        send(); // the peer's TLS may need an answer
        if (!receive()) {
          return -1;
        }
        got = pipe.decrypt(room, 0, 1);
      }
      return (int) got;
    }
  }

  private final class Encrypting extends OutputStream {

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      ByteBuffer[] rest = {ByteBuffer.wrap(from, offset, length)};
      while (rest[0].hasRemaining()) {
        if (pipe.encrypt(rest, 0, 1) == 0) {
          send();
        }
      }
    }

    @Override
    public void flush() throws IOException {
      send();
    }
  }
}
