// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The layout of a frame in a ring (docs/protocol/verbs.md): a header and at most `MAX_PAYLOAD`
/// bytes, at an index that is a multiple of `ALIGNMENT`. Little-endian.
final class VerbsFrame {

  static final int HEADER = 32;
  static final int ALIGNMENT = 64;
  static final int MAX_PAYLOAD = 1 << 16;

  /// The longest part of a write or read that the device executes directly; the peer sees each part
  /// as a sign of life.
  static final int MAX_PLACED = 1 << 20;

  static final long KIND = 0;
  static final long PAYLOAD = 4;
  static final long KEY = 8;
  static final long IMMEDIATE = 12;
  static final long OFFSET = 16;
  static final long LENGTH = 24;

  static final int MESSAGE = 1;

  /// A part of a write, except the last one.
  static final int WRITE = 2;

  /// The last part of a write, which notifies.
  static final int LAST = 3;

  static final int READ = 4;

  /// A part of the data of a read.
  static final int ANSWER = 5;

  static final int REFUSAL = 6;

  /// A part, except the last one, of a write that the device has placed in the region directly.
  static final int PLACED = 7;

  /// The last part of a directly placed write, which notifies.
  static final int LAST_PLACED = 8;

  /// The offer of a block that the peer's device may access directly.
  static final int OFFER = 9;

  /// The withdrawal of an offered block, which was discarded.
  static final int WITHDRAW = 10;

  /// The answer to a withdrawal: the block is no longer accessed.
  static final int WITHDRAWN = 11;

  /// The close of a region in an offered block.
  static final int CLOSED = 12;

  /// The answer to a close: the region is no longer accessed.
  static final int LEFT = 13;

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private VerbsFrame() {}

  /// Writes the header of a frame at a place of a buffer.
  ///
  /// Hot path.
  static void header(
      MemorySegment buffer,
      int place,
      int kind,
      int payload,
      int key,
      int immediate,
      long offset,
      long length) {
    buffer.set(INT, place + KIND, kind);
    buffer.set(INT, place + PAYLOAD, payload);
    buffer.set(INT, place + KEY, key);
    buffer.set(INT, place + IMMEDIATE, immediate);
    buffer.set(LONG, place + OFFSET, offset);
    buffer.set(LONG, place + LENGTH, length);
  }

  /// Returns the length in the ring of a frame with this payload.
  static int span(int payload) {
    return (HEADER + payload + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
