// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Messages that contain their number at both ends, as those of all contestants do. The number at
/// the end is inverted, and marked in an answer.
final class Numbered {

  /// The mark of an answer.
  static final long ANSWER = 0x5bd1_e995_9e37_79b9L;

  /// The mark of a request.
  static final long REQUEST = 0;

  /// The size of the two numbers, one at each end.
  static final int FEWEST_BYTES = 2 * Long.BYTES;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private Numbered() {}

  /// Creates a message with this number.
  static byte[] message(int bytes, long number, long mark) {
    byte[] message = new byte[bytes];
    LONG.set(message, 0, number);
    LONG.set(message, bytes - Long.BYTES, ~number ^ mark);
    return message;
  }

  /// Returns the number at the beginning of a message.
  static long number(byte[] message) {
    return (long) LONG.get(message, 0);
  }

  /// Returns whether a message has this length and mark, and this number at both ends.
  static boolean isRight(byte[] message, int bytes, long number, long mark) {
    return message.length == bytes
        && number(message) == number
        && (long) LONG.get(message, bytes - Long.BYTES) == (~number ^ mark);
  }
}
