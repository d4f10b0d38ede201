// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.nio.charset.StandardCharsets;

/// How a program's objects become bytes and come back, said explicitly: nothing is created from
/// bytes of other ranks but what this makes of them. Thread-safe if used by several threads.
public interface ObjectCodec<T> {

  /// The bytes of an object, at most 1 GiB.
  byte[] encode(T value);

  /// The object of these bytes. Throws `IllegalArgumentException` if they are none.
  T decode(byte[] bytes);

  /// Text, as UTF-8.
  static ObjectCodec<String> text() {
    return new ObjectCodec<>() {
      @Override
      public byte[] encode(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
      }

      @Override
      public String decode(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
      }
    };
  }
}
