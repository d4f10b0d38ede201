// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Messages that are made of their number, at either end, as all contestants' are: the last one is
/// inverted, and marked in an answer.
final class Numbered {

  /// What an answer is marked with.
  static final long ANSWER = 0x5bd1_e995_9e37_79b9L;

  /// What a request is marked with.
  static final long REQUEST = 0;

  /// A number at either end.
  static final int FEWEST_BYTES = 2 * Long.BYTES;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private Numbered() {}

  /// A new message with this number.
  static byte[] message(int bytes, long number, long mark) {
    byte[] message = new byte[bytes];
    LONG.set(message, 0, number);
    LONG.set(message, bytes - Long.BYTES, ~number ^ mark);
    return message;
  }

  /// The number that a message begins with.
  static long number(byte[] message) {
    return (long) LONG.get(message, 0);
  }

  /// Whether a message is as long as it must be, and marked, with this number at either end.
  static boolean isRight(byte[] message, int bytes, long number, long mark) {
    return message.length == bytes
        && number(message) == number
        && (long) LONG.get(message, bytes - Long.BYTES) == (~number ^ mark);
  }
}
