// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The buffer of an arrived message during the sink's callback. Its memory is aligned, and it
/// caches a segment for each length below 4,096, so that a short message does not allocate.
/// Confined to one thread.
public final class MessageBuffer {

  private static final int CACHED_LENGTHS = 4096;

  private final MemorySegment memory;
  private final @Nullable MemorySegment[] byLength = new MemorySegment[CACHED_LENGTHS];

  /// Creates a buffer for messages up to `maxBytes`, freed by the garbage collector.
  public MessageBuffer(int maxBytes) {
    memory = Arena.ofAuto().allocate(maxBytes, 64);
  }

  /// Returns the length of the longest message.
  public int maxBytes() {
    return (int) memory.byteSize();
  }

  /// Copies a message into the buffer; the returned segment is valid until the next call.
  ///
  /// Hot path.
  public MemorySegment copy(MemorySegment from, long offset, int bytes) {
    MemorySegment.copy(from, offset, memory, 0, bytes);
    return view(bytes);
  }

  /// Copies a message from two parts, one of `firstBytes` and the rest.
  ///
  /// Hot path.
  public MemorySegment copy(
      MemorySegment from, long first, int firstBytes, long second, int secondBytes) {
    MemorySegment.copy(from, first, memory, 0, firstBytes);
    MemorySegment.copy(from, second, memory, firstBytes, secondBytes);
    return view(firstBytes + secondBytes);
  }

  private MemorySegment view(int bytes) {
    if (bytes >= CACHED_LENGTHS) {
      return memory.asSlice(0, bytes).asReadOnly();
    }
    MemorySegment known = byLength[bytes];
    if (known == null) {
      known = memory.asSlice(0, bytes).asReadOnly();
      byLength[bytes] = known;
    }
    return known;
  }
}
