// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// The payload of a request about values of any length: the number of keys (4 bytes), the kind of
/// the payload (4 bytes), and the keys, 8 bytes each, ascending and distinct. Unless lengths are
/// requested, a length for each key follows, 4 bytes each. In a push, the values then follow
/// contiguously. Pure. Borrows the payload.
///
/// @param asksLengths true if the lengths of the keys' values are requested
/// @param count the number of keys
/// @param floats the number of floats of all values
/// @param payload the received bytes
public record ValueList(boolean asksLengths, int count, long floats, MemorySegment payload) {

  private static final int HEAD_BYTES = 8;
  private static final int WITH_LENGTHS = 0;
  private static final int ASKS_LENGTHS = 1;

  /// Parses a payload and checks the fields that do not depend on the table. Throws
  /// `IllegalArgumentException` if it is invalid.
  ///
  /// @param pushes true if there must be values
  public static ValueList read(MemorySegment payload, boolean pushes) {
    long bytes = payload.byteSize();
    if (bytes < HEAD_BYTES) {
      throw new IllegalArgumentException("values in a payload of " + bytes + " bytes");
    }
    int count = payload.get(JAVA_INT_UNALIGNED, 0);
    int what = payload.get(JAVA_INT_UNALIGNED, 4);
    boolean asks = what == ASKS_LENGTHS;
    long listBytes = HEAD_BYTES + (asks ? 8L : 12L) * count;
    if (count < 0 || what < 0 || what > ASKS_LENGTHS || (asks && pushes) || listBytes > bytes) {
      throw new IllegalArgumentException(
          "%d keys of kind %d in a payload of %d bytes".formatted(count, what, bytes));
    }
    var list = new ValueList(asks, count, 0, payload);
    long floats = 0;
    for (int i = 0; i < count; i++) {
      if (i > 0 && list.key(i - 1) >= list.key(i)) {
        throw new IllegalArgumentException(
            "key %d at %d comes after %d; the keys of a shard ascend, each once"
                .formatted(list.key(i), i, list.key(i - 1)));
      }
      if (!asks && list.length(i) < 1) {
        throw new IllegalArgumentException(
            "key %d with a value of %d floats; at least 1".formatted(list.key(i), list.length(i)));
      }
      floats += asks ? 0 : list.length(i);
    }
    long expected = listBytes + (pushes ? Float.BYTES * floats : 0);
    if (bytes != expected) {
      throw new IllegalArgumentException(
          "%d keys with %d floats in a payload of %d bytes, expected %d"
              .formatted(count, floats, bytes, expected));
    }
    return new ValueList(asks, count, floats, payload);
  }

  /// Returns a payload in the heap with these keys and lengths, and room for values.
  ///
  /// @param floats the number of floats to leave room for
  public static MemorySegment write(long[] keys, int[] lengths, long floats) {
    MemorySegment payload = begin(keys, 12L * keys.length + Float.BYTES * floats, WITH_LENGTHS);
    MemorySegment.copy(
        lengths, 0, payload, JAVA_INT_UNALIGNED, HEAD_BYTES + 8L * keys.length, lengths.length);
    return payload;
  }

  /// Returns a payload that requests lengths.
  public static MemorySegment ask(long[] keys) {
    return begin(keys, 8L * keys.length, ASKS_LENGTHS);
  }

  private static MemorySegment begin(long[] keys, long bytes, int what) {
    MemorySegment payload = MemorySegment.ofArray(new byte[Math.toIntExact(HEAD_BYTES + bytes)]);
    payload.set(JAVA_INT_UNALIGNED, 0, keys.length);
    payload.set(JAVA_INT_UNALIGNED, 4, what);
    MemorySegment.copy(keys, 0, payload, JAVA_LONG_UNALIGNED, HEAD_BYTES, keys.length);
    return payload;
  }

  /// Returns a key.
  public long key(int at) {
    return payload.get(JAVA_LONG_UNALIGNED, HEAD_BYTES + 8L * at);
  }

  /// Returns the number of floats of a key's value.
  public int length(int at) {
    return payload.get(JAVA_INT_UNALIGNED, HEAD_BYTES + 8L * count + 4L * at);
  }

  /// Returns the offset of the values in the payload, in bytes.
  public long valuesAt() {
    return valuesAt(count);
  }

  /// Returns the offset of the values behind `keys` keys with their lengths, in bytes.
  public static long valuesAt(int keys) {
    return HEAD_BYTES + 12L * keys;
  }

  /// Returns the values of a push.
  public MemorySegment values() {
    return payload.asSlice(valuesAt());
  }

  /// Returns a float of a push, for messages.
  public float value(long at) {
    return values().get(JAVA_FLOAT_UNALIGNED, Float.BYTES * at);
  }
}
