// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;

/// The part of a rank's memory that one peer must copy, as encoded after a message's header. A peer
/// sends these values; reading does not validate them.
///
/// @param region memory that contains the part
/// @param offset start of the part in the region, in bytes
/// @param rows length of the part in rows
public record PartDescriptor(RemoteRegion region, long offset, long rows) {

  private static final long REGION_AT = CollectiveFrame.HEADER_BYTES;
  private static final long OFFSET_AT = REGION_AT + RemoteRegion.WIRE_BYTES;
  private static final long ROWS_AT = OFFSET_AT + Long.BYTES;

  /// Length of the message in bytes.
  public static final long MESSAGE_BYTES = ROWS_AT + Long.BYTES;

  public void write(MemorySegment frame) {
    CollectiveFrame.region(frame, REGION_AT, region);
    frame.set(JAVA_LONG_UNALIGNED, OFFSET_AT, offset);
    frame.set(JAVA_LONG_UNALIGNED, ROWS_AT, rows);
  }

  public static PartDescriptor read(MemorySegment frame) {
    return new PartDescriptor(
        CollectiveFrame.region(frame, REGION_AT),
        frame.get(JAVA_LONG_UNALIGNED, OFFSET_AT),
        frame.get(JAVA_LONG_UNALIGNED, ROWS_AT));
  }

  /// Returns whether a part of this many bytes lies inside the region as mapped by this process.
  public boolean isInside(MemorySegment mapped, long bytes) {
    return offset >= 0 && bytes <= mapped.byteSize() && offset <= mapped.byteSize() - bytes;
  }
}
