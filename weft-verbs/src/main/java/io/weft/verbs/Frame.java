// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Layout of a frame in a ring (docs/protocol/verbs.md): a header and at most `MAX_PAYLOAD` bytes,
/// from an index that is a multiple of `ALIGNMENT` on. Little-endian.
final class Frame {

  static final int HEADER = 32;
  static final int ALIGNMENT = 64;
  static final int MAX_PAYLOAD = 1 << 16;

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

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Frame() {}

  /// What a frame with so much payload takes of a ring.
  static int span(int payload) {
    return (HEADER + payload + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
