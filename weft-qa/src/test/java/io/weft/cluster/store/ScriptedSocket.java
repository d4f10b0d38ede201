// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A socket in memory whose peer sends given bytes and then ends the stream. Between the given
/// bytes it may send an answer to the bytes that were written so far.
final class ScriptedSocket extends Socket {

  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
  private final InputStream received;

  ScriptedSocket(@Nullable UnaryOperator<byte[]> answer, byte[] then) {
    this(new byte[0], answer, then);
  }

  ScriptedSocket(byte[] first, @Nullable UnaryOperator<byte[]> answer, byte[] then) {
    InputStream rest = new ByteArrayInputStream(then);
    InputStream said = answer == null ? rest : new SequenceInputStream(new Answer(answer), rest);
    received = new SequenceInputStream(new ByteArrayInputStream(first), said);
  }

  /// Returns the bytes that were written so far.
  byte[] sent() {
    return sent.toByteArray();
  }

  @Override
  public InputStream getInputStream() {
    return received;
  }

  @Override
  public OutputStream getOutputStream() {
    return sent;
  }

  @Override
  public SocketAddress getRemoteSocketAddress() {
    return InetSocketAddress.createUnresolved("stranger", 1);
  }

  @Override
  public void setSoTimeout(int millis) {}

  @Override
  public void setTcpNoDelay(boolean on) {}

  @Override
  public void close() {}

  /// The answer, which is computed at the first read.
  private final class Answer extends InputStream {
    private final UnaryOperator<byte[]> answer;
    private @Nullable InputStream made;

    Answer(UnaryOperator<byte[]> answer) {
      this.answer = answer;
    }

    @Override
    public int read() throws IOException {
      return made().read();
    }

    @Override
    public int read(byte[] into, int at, int bytes) throws IOException {
      return made().read(into, at, bytes);
    }

    private InputStream made() {
      InputStream ready = made;
      if (ready == null) {
        ready = new ByteArrayInputStream(answer.apply(sent()));
        made = ready;
      }
      return ready;
    }
  }
}
