// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Map;

/// The program of rank 1. It answers each request with a message of equal number and length.
///
/// Messages contain their number at both ends, as those of all contestants do. The number at the
/// end is inverted, and marked in an answer.
public final class EchoServer {
  /// The mark of an answer.
  static final long ANSWER = 0x5bd1_e995_9e37_79b9L;

  /// The mark of a request.
  static final long REQUEST = 0;

  /// The size of the two numbers, one at each end.
  static final int FEWEST_BYTES = 2 * Long.BYTES;

  private static final String SERVICE = "weft.Echo";

  /// Answers bytes with a message of equal length.
  static final MethodDescriptor<byte[], byte[]> METHOD = Bytes.method(SERVICE, "Answer");

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private EchoServer() {}

  /// Takes no arguments.
  public static void main(String[] none) throws IOException, InterruptedException {
    CallServer.exit(
        SERVICE,
        Map.of(
            METHOD,
            (request, answer) -> {
              int bytes = request.length;
              if (bytes < FEWEST_BYTES || !isRight(request, bytes, number(request), REQUEST)) {
                throw new IllegalArgumentException("a request does not match its number");
              }
              answer.accept(message(bytes, number(request), ANSWER));
            }));
  }

  /// Creates a message with this number.
  static byte[] message(int bytes, long number, long mark) {
    byte[] message = new byte[bytes];
    LONG.set(message, 0, number);
    LONG.set(message, bytes - Long.BYTES, ~number ^ mark);
    return message;
  }

  private static long number(byte[] message) {
    return (long) LONG.get(message, 0);
  }

  /// Returns whether a message has this length and mark, and this number at both ends.
  static boolean isRight(byte[] message, int bytes, long number, long mark) {
    return message.length == bytes
        && number(message) == number
        && (long) LONG.get(message, bytes - Long.BYTES) == (~number ^ mark);
  }
}
