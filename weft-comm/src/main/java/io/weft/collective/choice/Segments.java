// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

/// The segments in which long runs of bytes are sent; equal on both sides.
///
/// @param bytes length of each segment except the last one of a run
/// @param inFlight number of segments that may be in flight from one rank to another
/// @param shipped true if the shipped table gives these segments, rather than a user
public record Segments(long bytes, int inFlight, boolean shipped) {

  /// Returns the number of segments of a run. An empty run has one empty segment, which keeps the
  /// order.
  public int count(long runBytes) {
    return (int) Math.max(1, (runBytes + bytes - 1) / bytes);
  }

  public long bytes(long runBytes, int segment) {
    return Math.min(bytes, runBytes - offset(segment));
  }

  /// Returns the offset of a segment in its run, or of a slot in a window.
  public long offset(long segment) {
    return segment * bytes;
  }

  /// Returns the part of a signature on which both sides must agree; empty for shipped segments.
  public String words() {
    return shipped ? "" : " in segments of " + bytes + " bytes, " + inFlight + " in flight";
  }
}
