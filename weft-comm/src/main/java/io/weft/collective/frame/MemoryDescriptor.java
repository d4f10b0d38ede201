// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;

/// A rank's description of the memory that its peers may access, in a message or in a slot.
///
/// @param kind one of the constants below
/// @param input region from which peers read this rank's input
/// @param output region to which peers write their parts of this rank's output; equal to `input`
///   where they need no other
public record MemoryDescriptor(int kind, RemoteRegion input, RemoteRegion output) {

  /// The tensors are private, and no bounce buffer replaces them.
  public static final int PRIVATE = 0;

  /// The regions are the tensors themselves.
  public static final int TENSORS = 1;

  /// The regions are a bounce buffer that replaces the tensors.
  public static final int BOUNCE_BUFFER = 2;

  /// Length of both regions in bytes.
  public static final long REGION_BYTES = 2L * RemoteRegion.WIRE_BYTES;

  private static final RemoteRegion NOWHERE = new RemoteRegion(0, 0, 0, 0);

  /// Returns the descriptor of private memory.
  public static MemoryDescriptor none() {
    return new MemoryDescriptor(PRIVATE, NOWHERE, NOWHERE);
  }

  public boolean isPrivate() {
    return kind == PRIVATE;
  }

  public boolean bounces() {
    return kind == BOUNCE_BUFFER;
  }

  /// Writes both regions.
  public void write(MemorySegment to, long at) {
    CollectiveFrame.region(to, at, input);
    CollectiveFrame.region(to, at + RemoteRegion.WIRE_BYTES, output);
  }

  /// Reads both regions.
  public static MemoryDescriptor read(MemorySegment from, long at, int kind) {
    return new MemoryDescriptor(
        kind,
        CollectiveFrame.region(from, at),
        CollectiveFrame.region(from, at + RemoteRegion.WIRE_BYTES));
  }
}
