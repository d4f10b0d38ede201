// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A receiver's permission to write, as encoded after a message's header.
///
/// @param staging the window for segments that will be combined; equal to `target` if there are
///   none
/// @param target the result
/// @param base offset in the target at which this peer's chunks begin
/// @param slots number of free staging slots
/// @param segmentBytes segment length by which the receiver counts
public record Grant(
    RemoteRegion staging, RemoteRegion target, long base, int slots, long segmentBytes) {

  private static final long STAGING_AT = CollectiveFrame.HEADER_BYTES;
  private static final long TARGET_AT = STAGING_AT + RemoteRegion.WIRE_BYTES;
  private static final long BASE_AT = TARGET_AT + RemoteRegion.WIRE_BYTES;
  private static final long SLOTS_AT = BASE_AT + Long.BYTES;

  private static final long SEGMENT_AT = SLOTS_AT + Integer.BYTES;

  /// Length of the message in bytes.
  public static final long MESSAGE_BYTES = SEGMENT_AT + Long.BYTES;

  public void write(MemorySegment frame) {
    CollectiveFrame.region(frame, STAGING_AT, staging);
    CollectiveFrame.region(frame, TARGET_AT, target);
    frame.set(JAVA_LONG_UNALIGNED, BASE_AT, base);
    frame.set(JAVA_INT_UNALIGNED, SLOTS_AT, slots);
    frame.set(JAVA_LONG_UNALIGNED, SEGMENT_AT, segmentBytes);
  }

  /// Returns null if the message is too short.
  public static @Nullable Grant read(MemorySegment frame) {
    if (frame.byteSize() < MESSAGE_BYTES) {
      return null;
    }
    return new Grant(
        CollectiveFrame.region(frame, STAGING_AT),
        CollectiveFrame.region(frame, TARGET_AT),
        frame.get(JAVA_LONG_UNALIGNED, BASE_AT),
        frame.get(JAVA_INT_UNALIGNED, SLOTS_AT),
        frame.get(JAVA_LONG_UNALIGNED, SEGMENT_AT));
  }
}
