// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

/// The segments in which long runs of bytes travel, the same on both sides.
///
/// @param bytes of each but the last of a run
/// @param inFlight how many may be on their way from one rank to another
/// @param shipped whether the table that is shipped says so, and no user
public record Segments(long bytes, int inFlight, boolean shipped) {

  /// Segments of a run; an empty one has one empty segment, which keeps the order.
  public int count(long runBytes) {
    return (int) Math.max(1, (runBytes + bytes - 1) / bytes);
  }

  /// Length of one of them.
  public long bytes(long runBytes, int segment) {
    return Math.min(bytes, runBytes - offset(segment));
  }

  /// Where a segment begins in its run, or a slot in a window.
  public long offset(long segment) {
    return segment * bytes;
  }

  /// What both sides must agree on, for a signature; empty where it is as shipped.
  public String words() {
    return shipped ? "" : " in segments of " + bytes + " bytes, " + inFlight + " in flight";
  }
}
