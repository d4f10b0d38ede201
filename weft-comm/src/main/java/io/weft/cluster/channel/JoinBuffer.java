// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A buffer in which the head and the payload of a request become the body of one message. Confined
/// to the progress thread.
final class JoinBuffer {

  private final MemorySegment both;

  /// @param bytes longest body
  JoinBuffer(long bytes) {
    both = Arena.ofAuto().allocate(bytes, 64);
  }

  /// Returns both parts in memory that is valid until the next call. Throws `IllegalStateException`
  /// if the payload was freed.
  MemorySegment join(MemorySegment head, MemorySegment payload) {
    MemorySegment.copy(head, 0, both, 0, head.byteSize());
    MemorySegment.copy(payload, 0, both, head.byteSize(), payload.byteSize());
    return both.asSlice(0, head.byteSize() + payload.byteSize());
  }
}
