// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.copy;

import io.weft.tensor.ffm.StreamingCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Objects;

/// `StreamingCopy` of whole cache lines; what stands before and after them, and memory in the heap,
/// is copied as ever.
final class StreamingCopier implements Copier {

  private static final long LINE_BYTES = StreamingCopy.STEP_BYTES;

  @Override
  public void copy(MemorySegment from, long fromAt, MemorySegment to, long toAt, long bytes) {
    Objects.checkFromIndexSize(fromAt, bytes, from.byteSize());
    Objects.checkFromIndexSize(toAt, bytes, to.byteSize());
    long head =
        to.isNative() && from.isNative() ? -(to.address() + toAt) & (LINE_BYTES - 1) : bytes;
    head = Math.min(head, bytes);
    long whole = (bytes - head) / LINE_BYTES * LINE_BYTES;
    if (whole > 0) {
      try {
        StreamingCopy.copy(address(to, toAt + head), address(from, fromAt + head), whole);
      } finally {
        Reference.reachabilityFence(from);
        Reference.reachabilityFence(to);
      }
    }
    MemorySegment.copy(from, fromAt, to, toAt, head);
    long done = head + whole;
    MemorySegment.copy(from, fromAt + done, to, toAt + done, bytes - done);
  }

  /// Of a byte within these bounds, which are alive and this thread's to touch.
  private static long address(MemorySegment memory, long offset) {
    byte unused = memory.get(ValueLayout.JAVA_BYTE, offset);
    return memory.address() + offset;
  }
}
