// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/// A block of a shard's file: a head of `HEAD_BYTES`, little-endian, and its payload. Pure.
///
/// @param type the kind of the content
/// @param part of a tensor; 0 for rows
/// @param count the number of rows in the payload; 0 for other types
/// @param at offset of the payload in the part's bytes; 0 for rows
/// @param payload from 0 on
public record Block(Type type, int part, int count, long at, byte[] payload) {

  /// The length of a head.
  public static final int HEAD_BYTES = 36;

  /// The maximum length of a payload: a row of the greatest width with the maximum number of slots.
  public static final int MAX_PAYLOAD_BYTES = 1 << 27;

  /// The approximate length of most payloads.
  public static final int PAYLOAD_BYTES = 256 << 10;

  private static final int MAGIC = 0x4b4c4257;
  private static final int CRC_AT = 32;
  private static final Type[] TYPES = Type.values();

  /// The kind of a block's content.
  public enum Type {
    /// The header of the file, as text.
    HEADER(0),
    /// Rows with their slots.
    ROWS(1),
    /// Bytes of a tensor's part, values and slots.
    ELEMENTS(2),
    /// The end of the file, with the numbers of blocks and rows.
    END(3);

    private final int code;

    Type(int code) {
      this.code = code;
    }
  }

  /// Returns the head, with the checksum over the preceding bytes of the head and the payload.
  ///
  /// @param payloadBytes the number of valid bytes of the payload
  static byte[] head(Type type, int part, int count, long at, byte[] payload, int payloadBytes) {
    byte[] bytes = new byte[HEAD_BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(JAVA_INT_UNALIGNED, 0, MAGIC);
    to.set(JAVA_INT_UNALIGNED, 4, type.code);
    to.set(JAVA_INT_UNALIGNED, 8, part);
    to.set(JAVA_INT_UNALIGNED, 12, count);
    to.set(JAVA_LONG_UNALIGNED, 16, at);
    to.set(JAVA_INT_UNALIGNED, 24, payloadBytes);
    to.set(JAVA_INT_UNALIGNED, 28, 0);
    to.set(JAVA_INT_UNALIGNED, CRC_AT, checksum(bytes, payload, payloadBytes));
    return bytes;
  }

  private static int checksum(byte[] head, byte[] payload, int payloadBytes) {
    var crc = new CRC32C();
    crc.update(head, 0, CRC_AT);
    crc.update(payload, 0, payloadBytes);
    return (int) crc.getValue();
  }

  /// Returns the length of the payload that follows this head. Throws `IllegalArgumentException` if
  /// the head is invalid.
  static int payloadBytes(byte[] head) {
    MemorySegment from = MemorySegment.ofArray(head);
    int magic = from.get(JAVA_INT_UNALIGNED, 0);
    int type = from.get(JAVA_INT_UNALIGNED, 4);
    int bytes = from.get(JAVA_INT_UNALIGNED, 24);
    if (magic != MAGIC) {
      throw new IllegalArgumentException(
          "no block begins here: found %08x, expected %08x".formatted(magic, MAGIC));
    }
    if (type < 0 || type >= TYPES.length || bytes < 0 || bytes > MAX_PAYLOAD_BYTES) {
      throw new IllegalArgumentException(
          "a block of type %d with %d bytes; expected a type below %d and at most %d bytes"
              .formatted(type, bytes, TYPES.length, MAX_PAYLOAD_BYTES));
    }
    return bytes;
  }

  /// Returns the block of this head and payload. Throws `IllegalArgumentException` if the checksum
  /// differs.
  static Block of(byte[] head, byte[] payload) {
    MemorySegment from = MemorySegment.ofArray(head);
    int expected = from.get(JAVA_INT_UNALIGNED, CRC_AT);
    int actual = checksum(head, payload, payload.length);
    if (actual != expected) {
      throw new IllegalArgumentException(
          "the block's checksum is %08x, expected %08x".formatted(actual, expected));
    }
    return new Block(
        TYPES[from.get(JAVA_INT_UNALIGNED, 4)],
        from.get(JAVA_INT_UNALIGNED, 8),
        from.get(JAVA_INT_UNALIGNED, 12),
        from.get(JAVA_LONG_UNALIGNED, 16),
        payload);
  }
}
