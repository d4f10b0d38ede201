// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.copy;

import io.weft.tensor.ffm.HeldMemory;
import io.weft.tensor.ffm.StreamingCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Objects;

/// `StreamingCopy` of whole cache lines; what stands before and after them, and memory in the heap,
/// is copied as ever.
final class StreamingCopier implements TensorCopier {

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
      if (HeldMemory.canBeClosed(from) || HeldMemory.canBeClosed(to)) {
        HeldLines.OF_THREAD.get().copy(from, fromAt + head, to, toAt + head, whole);
      } else {
        copyLines(from, fromAt + head, to, toAt + head, whole);
      }
    }
    MemorySegment.copy(from, fromAt, to, toAt, head);
    long done = head + whole;
    MemorySegment.copy(from, fromAt + done, to, toAt + done, bytes - done);
  }

  private static void copyLines(
      MemorySegment from, long fromAt, MemorySegment to, long toAt, long bytes) {
    try {
      StreamingCopy.copy(address(to, toAt), address(from, fromAt), bytes);
    } finally {
      Reference.reachabilityFence(from);
      Reference.reachabilityFence(to);
    }
  }

  /// The same where somebody might close an arena meanwhile: one instance a thread, whose fields
  /// are the arguments.
  private static final class HeldLines implements Runnable {

    static final ThreadLocal<HeldLines> OF_THREAD = ThreadLocal.withInitial(HeldLines::new);

    private MemorySegment from = MemorySegment.NULL;
    private MemorySegment to = MemorySegment.NULL;
    private long fromAt;
    private long toAt;
    private long bytes;

    void copy(MemorySegment source, long sourceAt, MemorySegment into, long intoAt, long length) {
      from = source;
      fromAt = sourceAt;
      to = into;
      toAt = intoAt;
      bytes = length;
      try {
        HeldMemory memory = HeldMemory.ofThread();
        memory.add(from);
        memory.add(to);
        memory.run(this);
      } finally {
        from = MemorySegment.NULL;
        to = MemorySegment.NULL;
      }
    }

    @Override
    public void run() {
      copyLines(from, fromAt, to, toAt, bytes);
    }
  }

  /// Of a byte within these bounds, which are alive and this thread's to touch.
  private static long address(MemorySegment memory, long offset) {
    byte unused = memory.get(ValueLayout.JAVA_BYTE, offset);
    return memory.address() + offset;
  }
}
