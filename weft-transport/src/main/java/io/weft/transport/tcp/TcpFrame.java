// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The 32 bytes in front of everything after the handshake, little-endian; the byte table is in
/// docs/protocol/tcp.md. Reads and writes fields in place.
final class TcpFrame {

  static final int BYTES = 32;

  /// Every frame with its payload is as long as a multiple of this.
  static final int ALIGNMENT = 32;

  /// Long payloads, and what is handed to the kernel at once, begin at a multiple of this in the
  /// stream, so that the kernel copies between addresses that are aligned alike (docs/adr/0043).
  static final int CACHE_LINE = 64;

  static final short MAGIC = (short) 0xF7E1;
  static final byte VERSION = 3;

  /// Small message; `length` bytes follow.
  static final byte MESSAGE = 1;

  /// Remote write of `length` bytes, which follow, to `key` and `offset`; then `immediate`.
  static final byte WRITE = 2;

  /// Remote read of `length` bytes from `key` and `offset`; the answer echoes `context`.
  static final byte READ = 3;

  /// Answer to a read; `length` bytes follow.
  static final byte READ_DATA = 4;

  /// Answer to a read that is refused; `immediate` is the reason.
  static final byte READ_REFUSED = 5;

  /// The sender ends the connection because of what it received; `length` bytes of text follow.
  static final byte FAULT = 6;

  /// The sender closes its endpoint in order.
  static final byte BYE = 7;

  /// Nothing, so that what follows begins at a multiple of `CACHE_LINE`.
  static final byte NOTHING = 8;

  /// `immediate` of `READ_REFUSED`: no open region has this key.
  static final int STALE_KEY = 1;

  /// `immediate` of `READ_REFUSED`: not inside the region.
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

  /// Zeros that follow a payload of this many bytes.
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
