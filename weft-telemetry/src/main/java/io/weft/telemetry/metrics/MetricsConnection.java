// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A client's connection: the head of a request, and the answer. One thread.
final class MetricsConnection {

  static final int MOST_BYTES = 8192;

  private final long endNanos;
  private final ByteBuffer head = ByteBuffer.allocate(MOST_BYTES);
  private @Nullable ByteBuffer answer;

  /// @param endNanos time after which the connection is late
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

  /// Reads and writes without blocking. Returns true when the answer is sent. Throws `IOException`
  /// if the client has closed the connection.
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
                .orElseGet(() -> MetricsResponse.text(400, "this is not an HTTP request\n"))
            : MetricsResponse.text(431, "the request is too long\n"))
        .bytes();
  }
}
