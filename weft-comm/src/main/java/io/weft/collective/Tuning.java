// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.choice.Segments;

/// Sizes that all ranks must share, because both sides of a transfer derive its segments from them.
/// `AUTO` leaves a size to the transport (`eagerBytes`) or to the rule table.
///
/// @param eagerBytes length of the longest chunk that is sent inside a message
/// @param segmentBytes length of the segments of a longer chunk
/// @param windowSlots number of segments to be combined that may be in flight, per peer and
///   exchange
public record Tuning(int eagerBytes, int segmentBytes, int windowSlots) {

  /// The value of a size that is left to the transport or the rule table, which are equal on all
  /// ranks.
  public static final int AUTO = 0;

  /// The tuning that leaves every size to the transport and the table.
  public static final Tuning DEFAULT = new Tuning(AUTO, AUTO, AUTO);

  /// The multiple that the length of a segment must have: a cache line.
  static final int SEGMENT_MULTIPLE_BYTES = 64;

  /// The lowest `eagerBytes`, because counts and barriers are always sent inside messages.
  private static final int MIN_EAGER_BYTES = 8;

  /// Throws `IllegalArgumentException` for a given size of `eagerBytes` below 8 or above
  /// `segmentBytes`, for `segmentBytes` that is not a multiple of 64, and for a negative size.
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

  /// Returns the part of a signature on which both sides must agree; empty where the transport
  /// decides.
  public String words() {
    return eagerBytes == AUTO ? "" : " with messages of up to " + eagerBytes + " bytes";
  }

  /// Returns the table's segments, with each size that this tuning gives instead of the table's.
  public Segments override(Segments table) {
    if (segmentBytes == AUTO && windowSlots == AUTO) {
      return table;
    }
    long bytes = segmentBytes == AUTO ? table.bytes() : segmentBytes;
    return new Segments(bytes, windowSlots == AUTO ? table.inFlight() : windowSlots, false);
  }
}
