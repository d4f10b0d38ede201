// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// The payload of a function call: a byte with the length of the name, the name, the argument.
///
/// @param name of the function
/// @param argument in the function's own format
public record KvCall(String name, byte[] argument) {

  private static final int MOST_NAME_BYTES = 100;
  private static final int MOST_ARGUMENT_BYTES = 512;

  /// Throws `IllegalArgumentException` with the invalid lengths.
  public KvCall {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes < 1 || bytes > MOST_NAME_BYTES || argument.length > MOST_ARGUMENT_BYTES) {
      throw new IllegalArgumentException(
          "a function whose name has %d bytes and its argument %d; allowed are 1 to %d, and up to %d"
              .formatted(bytes, argument.length, MOST_NAME_BYTES, MOST_ARGUMENT_BYTES));
    }
  }

  /// Returns the payload.
  public MemorySegment encode() {
    byte[] words = name.getBytes(StandardCharsets.UTF_8);
    ByteBuffer to = ByteBuffer.allocate(1 + words.length + argument.length);
    to.put((byte) words.length).put(words).put(argument);
    return MemorySegment.ofArray(to.array());
  }

  /// Parses a payload. Throws `IllegalArgumentException` if it is invalid.
  public static KvCall read(MemorySegment from) {
    if (from.byteSize() > 1 + MOST_NAME_BYTES + MOST_ARGUMENT_BYTES) {
      throw new IllegalArgumentException("a call of " + from.byteSize() + " bytes");
    }
    byte[] bytes = from.toArray(JAVA_BYTE);
    if (bytes.length < 1 || bytes[0] < 1 || bytes[0] >= bytes.length) {
      throw new IllegalArgumentException("a call without the name of a function");
    }
    int end = 1 + bytes[0];
    return new KvCall(
        new String(bytes, 1, bytes[0], StandardCharsets.UTF_8),
        Arrays.copyOfRange(bytes, end, bytes.length));
  }
}
