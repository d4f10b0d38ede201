// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.choice.Segments;

/// Sizes that all ranks must share, since both sides of a transfer derive its segments from them.
///
/// @param eagerBytes chunks up to this travel inside messages; `AUTO` = as the transport says
/// @param segmentBytes longest piece of a longer chunk; `AUTO` = as the table of algorithms says
/// @param windowSlots segments that may be on their way to be combined, per peer and exchange;
///   `AUTO` = the same
public record Tuning(int eagerBytes, int segmentBytes, int windowSlots) {

  /// Left to the transport or to the table of algorithms, which are the same on all ranks.
  public static final int AUTO = 0;

  /// Nothing but what transport and table say.
  public static final Tuning DEFAULT = new Tuning(AUTO, AUTO, AUTO);

  /// Of the length of a segment: a cache line.
  static final int SEGMENT_MULTIPLE_BYTES = 64;

  /// Counts and barriers always travel inside messages.
  private static final int MIN_EAGER_BYTES = 8;

  /// Throws `IllegalArgumentException` unless 8 <= eager <= segment, and a segment is a multiple of
  /// 64 bytes, where they are given.
  public Tuning {
    if ((eagerBytes != AUTO && eagerBytes < MIN_EAGER_BYTES)
        || (segmentBytes != AUTO && eagerBytes > segmentBytes)
        || segmentBytes < 0
        || segmentBytes % SEGMENT_MULTIPLE_BYTES != 0
        || windowSlots < 0) {
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

  /// What both sides must agree on, for a signature; empty where the transport says it.
  public String words() {
    return eagerBytes == AUTO ? "" : " with messages of up to " + eagerBytes + " bytes";
  }

  /// What the table says, unless something else is given here.
  public Segments over(Segments table) {
    if (segmentBytes == AUTO && windowSlots == AUTO) {
      return table;
    }
    long bytes = segmentBytes == AUTO ? table.bytes() : segmentBytes;
    return new Segments(bytes, windowSlots == AUTO ? table.inFlight() : windowSlots, false);
  }
}
