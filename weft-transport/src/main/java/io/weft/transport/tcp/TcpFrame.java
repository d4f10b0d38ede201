// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The 32-byte header of every frame after the handshake, little-endian. docs/protocol/tcp.md has
/// the byte table. The methods read and write fields in place.
final class TcpFrame {

  static final int BYTES = 32;

  /// The length of a frame with its payload is a multiple of this.
  static final int ALIGNMENT = 32;

  /// The alignment in the stream of long payloads and of each system call's data. It makes the
  /// kernel copy between addresses with equal alignment (docs/adr/0043).
  static final int CACHE_LINE = 64;

  static final short MAGIC = (short) 0xF7E1;
  static final byte VERSION = 3;

  /// Small message; `length` bytes follow.
  static final byte MESSAGE = 1;

  /// Remote write of the `length` bytes that follow to `key` and `offset`, with notification
  /// `immediate`.
  static final byte WRITE = 2;

  /// Remote read of `length` bytes from `key` and `offset`; the answer echoes `context`.
  static final byte READ = 3;

  /// Answer to a read; `length` bytes follow.
  static final byte READ_DATA = 4;

  /// Refusal of a read; `immediate` is the reason.
  static final byte READ_REFUSED = 5;

  /// The sender ends the connection because of the data it received; `length` bytes of text follow.
  static final byte FAULT = 6;

  /// The sender closes its endpoint in order.
  static final byte BYE = 7;

  /// An empty frame that aligns the next one to `CACHE_LINE`.
  static final byte NOTHING = 8;

  /// The `immediate` of `READ_REFUSED` if no open region has this key.
  static final int STALE_KEY = 1;

  /// The `immediate` of `READ_REFUSED` if the range is not inside the region.
  static final int OUT_OF_BOUNDS = 2;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private TcpFrame() {}

  static void put(
      MemorySegment memory,
      long at,
      byte kind,
      int immediate,
      int context,
      int key,
      long offset,
      long length) {
    memory.set(SHORT, at, MAGIC);
    memory.set(ValueLayout.JAVA_BYTE, at + 2, VERSION);
    memory.set(ValueLayout.JAVA_BYTE, at + 3, kind);
    memory.set(INT, at + 4, immediate);
    memory.set(INT, at + 8, context);
    memory.set(INT, at + 12, key);
    memory.set(LONG, at + 16, offset);
    memory.set(LONG, at + 24, length);
  }

  /// Returns the count of zeros that follow a payload of this length.
  static int padding(long payloadBytes) {
    return (int) (-payloadBytes & (ALIGNMENT - 1));
  }

  static boolean hasMagic(MemorySegment memory, long at) {
    return memory.get(SHORT, at) == MAGIC && memory.get(ValueLayout.JAVA_BYTE, at + 2) == VERSION;
  }

  static byte kind(MemorySegment memory, long at) {
    return memory.get(ValueLayout.JAVA_BYTE, at + 3);
  }

  static int immediate(MemorySegment memory, long at) {
    return memory.get(INT, at + 4);
  }

  static int context(MemorySegment memory, long at) {
    return memory.get(INT, at + 8);
  }

  static int key(MemorySegment memory, long at) {
    return memory.get(INT, at + 12);
  }

  static long offset(MemorySegment memory, long at) {
    return memory.get(LONG, at + 16);
  }

  static long length(MemorySegment memory, long at) {
    return memory.get(LONG, at + 24);
  }
}
