// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Layout of a frame in a ring (docs/protocol/verbs.md): a header and at most `MAX_PAYLOAD` bytes,
/// from an index that is a multiple of `ALIGNMENT` on. Little-endian.
final class VerbsFrame {

  static final int HEADER = 32;
  static final int ALIGNMENT = 64;
  static final int MAX_PAYLOAD = 1 << 16;

  /// Longest part of a write or read that the device does by itself: the peer sees a sign of life
  /// for each.
  static final int MAX_PLACED = 1 << 20;

  static final long KIND = 0;
  static final long PAYLOAD = 4;
  static final long KEY = 8;
  static final long IMMEDIATE = 12;
  static final long OFFSET = 16;
  static final long LENGTH = 24;

  static final int MESSAGE = 1;

  /// A part of a write, not the last one.
  static final int WRITE = 2;

  /// The last part of a write, which notifies.
  static final int LAST = 3;

  static final int READ = 4;

  /// A part of what a read fetches.
  static final int ANSWER = 5;

  static final int REFUSAL = 6;

  /// A part of a write that the device has put into its region already, not the last one.
  static final int PLACED = 7;

  /// The last part of such a write, which notifies.
  static final int LAST_PLACED = 8;

  /// The peer's device may write and read a region by itself.
  static final int OFFER = 9;

  /// A region that was offered is closed.
  static final int WITHDRAW = 10;

  /// The answer: it will not be touched any more.
  static final int WITHDRAWN = 11;

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private VerbsFrame() {}

  /// Writes the header of a frame that begins at a place of a buffer.
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

  /// What a frame with so much payload takes of a ring.
  static int span(int payload) {
    return (HEADER + payload + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
