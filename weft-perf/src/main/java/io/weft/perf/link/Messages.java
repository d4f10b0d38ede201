// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Many concurrent small requests. Rank 0 keeps `outstanding` requests unanswered. Rank 1 answers
/// each with a message of the same length. One iteration is `batch` answers of a stream that does
/// not pause between iterations. A message's content is derived from its number and checked on
/// arrival.
final class Messages implements Exercise {

  /// The size of the two numbers, one at each end of a message.
  static final int FEWEST_BYTES = 16;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long ANSWER = 0x5bd1_e995_9e37_79b9L;

  private final PeerLink link;
  private final int bytes;
  private final int outstanding;
  private final int batch;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment message;
  private long sent;
  private long received;
  private boolean right = true;

  Messages(PeerLink link, long bytes, int outstanding, int batch) {
    int most = link.transport().capabilities().maxMessageBytes();
    if (bytes < FEWEST_BYTES || bytes > most) {
      throw new IllegalArgumentException(
          "a message has %d to %d bytes here, not %d; give other --bytes"
              .formatted(FEWEST_BYTES, most, bytes));
    }
    this.link = link;
    this.bytes = (int) bytes;
    this.outstanding = outstanding;
    this.batch = batch;
    message = arena.allocate(bytes, Long.BYTES);
    link.heardBy(this);
  }

  /// Hot path.
  @Override
  public void message(MemorySegment heard) {
    long mark = link.rank() == 0 ? ANSWER : 0;
    right &=
        heard.byteSize() == bytes
            && heard.get(LONG, 0) == received
            && heard.get(LONG, bytes - Long.BYTES) == (~received ^ mark);
    received++;
  }

  @Override
  public long[] drive(long first, int iterations) {
    long[] nanos = new long[iterations];
    long last = sent + (long) iterations * batch;
    long end = received + batch;
    long begin = System.nanoTime();
    for (int i = 0; i < iterations; end += batch) {
      long goal = end;
      link.until(
          () -> {
            sendUpTo(Math.min(last, received + outstanding), 0);
            return received >= goal;
          });
      // One poll may deliver the answers of several batches, which then share its time.
      int done = (int) ((received - goal) / batch) + 1;
      long now = System.nanoTime();
      for (int of = 0; of < done; of++) {
        nanos[i++] = (now - begin) / done;
      }
      end += (long) (done - 1) * batch;
      begin = now;
    }
    return nanos;
  }

  @Override
  public void answer(long first, int iterations) {
    long last = sent + (long) iterations * batch;
    link.until(
        () -> {
          sendUpTo(received, ANSWER);
          return sent == last;
        });
  }

  /// Sends messages up to number `end` while there is room.
  ///
  /// Hot path.
  private void sendUpTo(long end, long mark) {
    while (sent < end) {
      message.set(LONG, 0, sent);
      message.set(LONG, bytes - Long.BYTES, ~sent ^ mark);
      if (!link.posted(link.peer().trySend(message))) {
        return;
      }
      sent++;
    }
  }

  @Override
  public boolean isRight() {
    return right;
  }

  @Override
  public void close() {
    arena.close();
  }
}
