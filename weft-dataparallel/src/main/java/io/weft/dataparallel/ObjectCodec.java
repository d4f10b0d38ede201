// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.nio.charset.StandardCharsets;

/// The encoding of a program's objects. Objects are created from received bytes only by this codec.
/// Must be thread-safe if several threads use it.
public interface ObjectCodec<T> {

  /// Returns the bytes of an object, at most 1 GiB.
  byte[] encode(T value);

  /// Returns the object of these bytes. Throws `IllegalArgumentException` if they are not a valid
  /// encoding.
  T decode(byte[] bytes);

  /// Returns the codec of text, as UTF-8.
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
