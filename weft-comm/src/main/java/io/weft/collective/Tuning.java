// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

/// Sizes that all ranks must share, since both sides of a transfer derive its segments from them.
///
/// @param eagerBytes chunks up to this travel inside messages; `AUTO` = as the transport says
/// @param segmentBytes longest piece of a longer chunk
/// @param windowSlots segments that may be on their way to be combined, per peer and exchange
public record Tuning(int eagerBytes, int segmentBytes, int windowSlots) {

  /// What is eager depends on the transport, which is the same on all ranks.
  public static final int AUTO = 0;

  /// Segments of 128 KiB, eight in flight.
  public static final Tuning DEFAULT = new Tuning(AUTO, 128 << 10, 8);

  /// Private tensors up to this get a window of their length where ranks share memory.
  public static final long LONGEST_STAND_IN_BYTES = 256L << 20;

  /// Counts and barriers always travel inside messages.
  private static final int MIN_EAGER_BYTES = 8;

  /// Throws `IllegalArgumentException` unless 8 <= eager <= segment, a segment is a positive
  /// multiple of 64 bytes, and there is at least one slot.
  public Tuning {
    if ((eagerBytes != AUTO && eagerBytes < MIN_EAGER_BYTES)
        || eagerBytes > segmentBytes
        || segmentBytes < 64
        || segmentBytes % 64 != 0
        || windowSlots < 1) {
      throw new IllegalArgumentException(
          "eager "
              + eagerBytes
              + " bytes, segments of "
              + segmentBytes
              + " bytes, "
              + windowSlots
              + " slots: eager has at least 8 bytes and does not exceed a segment, a segment is a"
              + " multiple of 64 bytes");
    }
  }

  /// Bytes of a full window.
  public long windowBytes() {
    return (long) segmentBytes * windowSlots;
  }
}
