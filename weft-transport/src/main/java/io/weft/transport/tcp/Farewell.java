// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/// A connection that we have ended: what still arrives is thrown away until the peer has ended it
/// too, because closing a socket with unread bytes would destroy our last frame on its way.
final class Farewell extends Pollable {

  private static final long LIMIT_NANOS = 1_000_000_000L;
  private static final int READS_PER_TURN = 16;

  private final SocketChannel channel;
  private final ByteBuffer scratch;
  private long startNanos;
  private boolean started;
  private boolean over;

  Farewell(SocketChannel channel, SelectionKey key, ByteBuffer scratch) {
    this.channel = channel;
    this.scratch = scratch;
    try {
      channel.shutdownOutput();
      key.interestOps(SelectionKey.OP_READ);
      key.attach(this);
    } catch (IOException e) {
      close();
    }
  }

  boolean isOver() {
    return over;
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

  @Override
  int ready(long nowNanos) {
    try {
      for (int i = 0; i < READS_PER_TURN && !over; i++) {
        int got = channel.read(scratch.clear());
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
    over = true;
    TcpSockets.close(channel);
  }
}
