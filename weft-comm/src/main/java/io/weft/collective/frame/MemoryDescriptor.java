// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;

/// What a rank says of the memory on which its peers may work, in a message or in a slot.
///
/// @param kind what it is
/// @param input where peers find its input
/// @param output where they leave their parts of its output; the same region where they need no
///   other
public record MemoryDescriptor(int kind, RemoteRegion input, RemoteRegion output) {

  /// There is none, and nothing takes its place.
  public static final int PRIVATE = 0;

  /// The tensors themselves.
  public static final int TENSORS = 1;

  /// A bounce buffer that takes their place.
  public static final int BOUNCE_BUFFER = 2;

  /// Bytes of the regions.
  public static final long REGION_BYTES = 2L * RemoteRegion.WIRE_BYTES;

  private static final RemoteRegion NOWHERE = new RemoteRegion(0, 0, 0, 0);

  /// Of private memory.
  public static MemoryDescriptor none() {
    return new MemoryDescriptor(PRIVATE, NOWHERE, NOWHERE);
  }

  public boolean isPrivate() {
    return kind == PRIVATE;
  }

  public boolean bounces() {
    return kind == BOUNCE_BUFFER;
  }

  /// Writes the regions.
  public void write(MemorySegment to, long at) {
    CollectiveFrame.region(to, at, input);
    CollectiveFrame.region(to, at + RemoteRegion.WIRE_BYTES, output);
  }

  /// Reads them.
  public static MemoryDescriptor read(MemorySegment from, long at, int kind) {
    return new MemoryDescriptor(
        kind,
        CollectiveFrame.region(from, at),
        CollectiveFrame.region(from, at + RemoteRegion.WIRE_BYTES));
  }
}
