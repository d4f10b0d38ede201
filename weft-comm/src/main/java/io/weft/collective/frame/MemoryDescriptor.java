// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;

/// The memory on which peers may work, as it stands behind a message's header: the regions of input
/// and output, the same one twice where they are the same memory.
public final class MemoryDescriptor {

  private static final long INPUT_AT = CollectiveFrame.HEADER_BYTES;
  private static final long OUTPUT_AT = INPUT_AT + RemoteRegion.WIRE_BYTES;

  /// What an offer says of the memory: the tensors themselves, or a window that stands in for them.
  public static final int TENSORS = 1;

  public static final int STAND_IN = 2;

  /// Bytes of the whole message.
  public static final long MESSAGE_BYTES = OUTPUT_AT + RemoteRegion.WIRE_BYTES;

  private MemoryDescriptor() {}

  public static void write(MemorySegment frame, RemoteRegion input, RemoteRegion output) {
    CollectiveFrame.region(frame, INPUT_AT, input);
    CollectiveFrame.region(frame, OUTPUT_AT, output);
  }

  public static RemoteRegion input(MemorySegment frame) {
    return CollectiveFrame.region(frame, INPUT_AT);
  }

  public static RemoteRegion output(MemorySegment frame) {
    return CollectiveFrame.region(frame, OUTPUT_AT);
  }
}
