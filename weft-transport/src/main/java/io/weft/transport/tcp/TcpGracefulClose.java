// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;

/// A connection that this side has ended. It sends the remaining data and discards received data
/// until the peer has ended the connection too, for at most a second. Closing a socket with unread
/// bytes would destroy the last frame in transit.
final class TcpGracefulClose extends Pollable {

  private static final long LIMIT_NANOS = 1_000_000_000L;
  private static final int READS_PER_CYCLE = 16;

  private final SocketStream stream;
  private final SelectionKey key;
  private final ByteBuffer scratch;
  private long startNanos;
  private boolean started;
  private boolean said;
  private boolean ended;

  TcpGracefulClose(SocketStream stream, SelectionKey key, ByteBuffer scratch) {
    this.stream = stream;
    this.key = key;
    this.scratch = scratch;
    key.attach(this);
    stream.end();
    try {
      say();
    } catch (IOException e) {
      close();
    }
  }

  boolean isEnded() {
    return ended;
  }

  void tick(long nowNanos) {
    if (!started) {
      started = true;
      startNanos = nowNanos;
    }
    if (nowNanos - startNanos > LIMIT_NANOS) {
      close();
    }
  }

  /// Sends the remaining data, then ends the output.
  private void say() throws IOException {
    if (said) {
      return;
    }
    said = stream.flush();
    if (said) {
      stream.socket().shutdownOutput();
    }
    key.interestOps(said ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
  }

  @Override
  int ready(long nowNanos) {
    try {
      say();
      for (int i = 0; i < READS_PER_CYCLE && !ended; i++) {
        int got = stream.socket().read(scratch.clear());
        if (got < 0) {
          close();
        } else if (got == 0) {
          break;
        }
      }
    } catch (IOException e) {
      close();
    }
    return 1;
  }

  void close() {
    ended = true;
    stream.close();
  }
}
