// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/// The response to a request, after which its connection is closed. Borrows the body.
///
/// @param status HTTP status
/// @param type type of the content
/// @param body content
/// @param hasBody false for `HEAD`, which receives only the length
record MetricsResponse(int status, String type, byte[] body, boolean hasBody) {

  private static final Map<Integer, String> REASONS =
      Map.of(
          200, "OK",
          400, "Bad Request",
          404, "Not Found",
          405, "Method Not Allowed",
          431, "Request Header Fields Too Large",
          500, "Internal Server Error");

  static MetricsResponse text(int status, String words) {
    return new MetricsResponse(
        status, "text/plain; charset=utf-8", words.getBytes(StandardCharsets.UTF_8), true);
  }

  /// Returns the bytes to send.
  byte[] bytes() {
    byte[] head =
        ("HTTP/1.1 "
                + status
                + " "
                + REASONS.getOrDefault(status, "")
                + "\r\nContent-Type: "
                + type
                + "\r\nContent-Length: "
                + body.length
                + "\r\nConnection: close\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(head, head.length + (hasBody ? body.length : 0));
    System.arraycopy(body, 0, all, head.length, all.length - head.length);
    return all;
  }
}
