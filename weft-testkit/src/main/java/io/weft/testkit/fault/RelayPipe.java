// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;

/// One direction of a relayed connection. It buffers at most 1 MiB of bytes that were read and not
/// yet written, and then stops reading. Confined to the relay's thread.
final class RelayPipe {

  private static final int MAX_BYTES = 1 << 20;
  private static final int CHUNK_BYTES = 64 << 10;

  private final SocketChannel from;
  private final SocketChannel to;
  private final Direction direction;
  private final ArrayDeque<Item> items = new ArrayDeque<>();
  private long position;
  private int waitingBytes;
  private boolean blocked;
  private boolean corruptNext;
  private boolean discards;
  private boolean sourceOver;
  private boolean ended;

  /// The output of the pipe, in order.
  private sealed interface Item {

    record Bytes(ByteBuffer bytes, long readNanos) implements Item {}

    /// The end of the stream.
    record End() implements Item {}

    /// The end of the connection by a close.
    record Close() implements Item {}

    /// The end of the connection by a reset.
    record Reset() implements Item {}
  }

  /// The state of the whole connection.
  enum PipeState {
    GOES_ON,
    CLOSE,
    RESET
  }

  RelayPipe(SocketChannel from, SocketChannel to, Direction direction) {
    this.from = from;
    this.to = to;
    this.direction = direction;
  }

  Direction direction() {
    return direction;
  }

  /// Returns the number of bytes read.
  long position() {
    return position;
  }

  /// Returns whether the end of the stream was forwarded.
  boolean isEnded() {
    return ended;
  }

  /// Returns whether the pipe has ended, or is stalled after the end of its input.
  boolean isDrained(long now) {
    return ended || (sourceOver && direction.stalledNanos(now) > 0);
  }

  boolean wantsRead() {
    return !sourceOver && waitingBytes < MAX_BYTES;
  }

  boolean wantsWrite() {
    return blocked;
  }

  /// Reads available bytes, but not beyond `mark`. Returns their number.
  int take(long mark, long now) {
    if (!wantsRead() || mark <= position) {
      return 0;
    }
    long limit = Math.min(Math.min(CHUNK_BYTES, MAX_BYTES - waitingBytes), mark - position);
    ByteBuffer bytes = ByteBuffer.allocate((int) limit);
    try {
      int got = from.read(bytes);
      if (got < 0) {
        end(new Item.End());
        return 0;
      }
      if (got > 0) {
        keep(bytes.flip(), now);
      }
      return got;
    } catch (IOException reset) {
      end(new Item.Reset());
      return 0;
    }
  }

  private void keep(ByteBuffer bytes, long now) {
    if (corruptNext) {
      corruptNext = false;
      bytes.put(0, (byte) (bytes.get(0) ^ (1 << (position & 7))));
    }
    position += bytes.remaining();
    if (!discards) {
      waitingBytes += bytes.remaining();
      items.addLast(new Item.Bytes(bytes, now));
    }
  }

  private void end(Item how) {
    sourceOver = true;
    if (!discards || how instanceof Item.Reset) {
      items.addLast(how);
    }
  }

  // --- faults, which follow the bytes read before them

  /// Ends the stream at the other end; bytes that are read later are discarded.
  void halfClose() {
    if (!discards && !sourceOver) {
      discards = true;
      items.addLast(new Item.End());
    }
  }

  /// Ends the connection after all bytes that were read have been written.
  void closeBehind() {
    discards = true;
    sourceOver = true;
    items.addLast(new Item.Close());
  }

  void corruptNext() {
    corruptNext = true;
  }

  /// Writes the output that is due.
  PipeState give(long now) {
    blocked = false;
    while (!items.isEmpty() && direction.stalledNanos(now) == 0) {
      Item first = items.getFirst();
      if (first instanceof Item.Bytes(ByteBuffer bytes, long readNanos)) {
        if (now - readNanos < direction.delayNanos()) {
          return PipeState.GOES_ON;
        }
        try {
          waitingBytes -= to.write(bytes);
        } catch (IOException gone) {
          return PipeState.RESET;
        }
        if (bytes.hasRemaining()) {
          blocked = true;
          return PipeState.GOES_ON;
        }
      } else if (first instanceof Item.Close) {
        return PipeState.CLOSE;
      } else if (first instanceof Item.Reset) {
        return PipeState.RESET;
      } else {
        try {
          to.shutdownOutput();
        } catch (IOException gone) {
          return PipeState.RESET;
        }
        ended = true;
      }
      items.removeFirst();
    }
    return PipeState.GOES_ON;
  }

  /// Returns the time until output is due without an event of a socket.
  long quietNanos(long now) {
    if (items.isEmpty() || blocked) {
      return Long.MAX_VALUE;
    }
    long stalled = direction.stalledNanos(now);
    if (stalled > 0 || !(items.getFirst() instanceof Item.Bytes(var bytes, long readNanos))) {
      return stalled;
    }
    return Math.max(0, direction.delayNanos() - (now - readNanos));
  }
}
