// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.metrics;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One connection with whoever asks: the head of a request, and what it is answered. One thread.
final class MetricsConnection {

  static final int MOST_BYTES = 8192;

  private final long endNanos;
  private final ByteBuffer head = ByteBuffer.allocate(MOST_BYTES);
  private @Nullable ByteBuffer answer;

  /// @param endNanos when it is late
  MetricsConnection(long endNanos) {
    this.endNanos = endNanos;
  }

  boolean isLate(long nanos) {
    return nanos - endNanos >= 0;
  }

  boolean isAnswering() {
    return answer != null;
  }

  boolean hasSpoken() {
    return head.position() > 0;
  }

  /// Reads and writes what is possible now. Returns whether all is done. Throws `IOException` where
  /// the other end has gone.
  boolean turn(ByteChannel channel, Function<MetricsRequest, MetricsResponse> pages)
      throws IOException {
    ByteBuffer left = answer;
    if (left == null) {
      if (channel.read(head) < 0) {
        throw new EOFException();
      }
      String text = new String(head.array(), 0, head.position(), StandardCharsets.ISO_8859_1);
      if (!text.contains("\r\n\r\n") && !text.contains("\n\n") && head.hasRemaining()) {
        return false;
      }
      left = ByteBuffer.wrap(answer(text, pages));
      answer = left;
    }
    channel.write(left);
    return !left.hasRemaining();
  }

  private byte[] answer(String text, Function<MetricsRequest, MetricsResponse> pages) {
    return (head.hasRemaining()
            ? MetricsRequest.parse(text)
                .map(pages)
                .orElseGet(() -> MetricsResponse.text(400, "this is no request of HTTP\n"))
            : MetricsResponse.text(431, "the request is too long\n"))
        .bytes();
  }
}
