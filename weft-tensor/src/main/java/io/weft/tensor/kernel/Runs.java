// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ffm.HeldMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Bounds of the runs that a kernel works on, and where a loop on vectors finds them.
///
/// Such a loop finds all native memory in one segment, by its address. What that segment is made of
/// is constant to the JIT. Of the segments that callers bring it is not: C2 moves the checks of
/// their classes and owners before the loop, by how often they passed wherever else this JVM uses
/// segments, and where one of them fails there it throws the loop away and compiles it again,
/// without end, while the kernel runs interpreted (docs/adr/0063-kernels-on-addresses.md).
final class Runs {

  /// Null where this Java was not allowed native access: loops then work on their callers'
  /// segments.
  private static final @Nullable MemorySegment ALL = all();

  private Runs() {}

  /// Bytes in each of three runs. Throws `IndexOutOfBoundsException`, before anything is written,
  /// if one of them leaves its segment.
  static long bytes(
      DType dtype,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    bytes(dtype, left, p, elements);
    bytes(dtype, right, q, elements);
    return bytes(dtype, into, at, elements);
  }

  /// Bytes in one run. Throws `IndexOutOfBoundsException` if it leaves its segment.
  static long bytes(DType dtype, MemorySegment data, long offset, long elements) {
    long size = data.byteSize();
    Objects.checkFromIndexSize(0L, elements, size / dtype.bytes());
    long bytes = elements * dtype.bytes();
    Objects.checkFromIndexSize(offset, bytes, size);
    return bytes;
  }

  @SuppressWarnings("restricted")
  private static @Nullable MemorySegment all() {
    return Runs.class.getModule().isNativeAccessEnabled()
        ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
        : null;
  }

  /// Where a loop finds the place that `at` tells of `data`.
  ///
  /// Hot path.
  static MemorySegment in(MemorySegment data) {
    MemorySegment all = ALL;
    return all == null ? data : all;
  }

  /// The place in `in(data)` of some bytes that lie inside of `data`. Throws
  /// `IllegalArgumentException` if it lies in the heap, where it has no address, and what any
  /// access throws if it is closed or of another thread.
  ///
  /// Hot path.
  static long at(MemorySegment data, long offset, long bytes) {
    if (ALL == null) {
      return offset;
    }
    if (!data.isNative()) {
      throw new IllegalArgumentException(
          "memory in the heap has no address: it goes to heap tiles");
    }
    if (bytes > 0) {
      byte unused = data.get(ValueLayout.JAVA_BYTE, offset);
    }
    return data.address() + offset;
  }

  /// Whether somebody might close an arena of theirs while a loop works on addresses.
  ///
  /// Hot path.
  static boolean canBeFreed(MemorySegment into, MemorySegment left, MemorySegment right) {
    return canBeFreed(into) || canBeFreed(left) || canBeFreed(right);
  }

  /// Hot path.
  static boolean canBeFreed(MemorySegment data) {
    return ALL != null && HeldMemory.canBeClosed(data);
  }

  /// A reducer's loop on memory that stays.
  ///
  /// Hot path.
  static void reduce(
      Reducer loop,
      DType dtype,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = bytes(dtype, into, at, left, p, right, q, elements);
    try {
      loop.combine(
          in(into),
          at(into, at, bytes),
          in(left),
          at(left, p, bytes),
          in(right),
          at(right, q, bytes),
          elements);
    } finally {
      Reference.reachabilityFence(into);
      Reference.reachabilityFence(left);
      Reference.reachabilityFence(right);
    }
  }

  /// The same for a divider's.
  ///
  /// Hot path.
  static void divide(
      Divider loop, DType dtype, MemorySegment data, long offset, long elements, int divisor) {
    long bytes = bytes(dtype, data, offset, elements);
    try {
      loop.divide(in(data), at(data, offset, bytes), elements, divisor);
    } finally {
      Reference.reachabilityFence(data);
    }
  }

  /// The call of a loop on memory whose arena somebody might close meanwhile: it is held until the
  /// loop has ended. One instance a thread, whose fields are the arguments, so that nothing is
  /// allocated; empty between calls.
  static final class Held implements Runnable {

    private static final ThreadLocal<Held> OF_THREAD = ThreadLocal.withInitial(Held::new);

    private DType dtype = DType.FLOAT32;
    private @Nullable Reducer reducer;
    private @Nullable Divider divider;
    private MemorySegment into = MemorySegment.NULL;
    private MemorySegment left = MemorySegment.NULL;
    private MemorySegment right = MemorySegment.NULL;
    private long at;
    private long p;
    private long q;
    private long length;
    private int divisor;

    private Held() {}

    static Held ofThread() {
      return OF_THREAD.get();
    }

    /// See `Runs.reduce`.
    ///
    /// Hot path.
    void reduce(
        Reducer loop,
        DType type,
        MemorySegment result,
        long resultAt,
        MemorySegment one,
        long oneAt,
        MemorySegment other,
        long otherAt,
        long elements) {
      reducer = loop;
      dtype = type;
      into = result;
      at = resultAt;
      operands(one, oneAt, other, otherAt, elements);
      hold();
    }

    /// See `Runs.divide`.
    ///
    /// Hot path.
    void divide(Divider loop, DType type, MemorySegment data, long offset, long elements, int by) {
      divider = loop;
      dtype = type;
      divisor = by;
      into = data;
      at = offset;
      operands(data, offset, data, offset, elements);
      hold();
    }

    private void operands(
        MemorySegment one, long oneAt, MemorySegment other, long otherAt, long howLong) {
      left = one;
      p = oneAt;
      right = other;
      q = otherAt;
      length = howLong;
    }

    private void hold() {
      try {
        HeldMemory memory = HeldMemory.ofThread();
        memory.add(into);
        memory.add(left);
        memory.add(right);
        memory.run(this);
      } finally {
        reducer = null;
        divider = null;
        into = MemorySegment.NULL;
        operands(MemorySegment.NULL, 0, MemorySegment.NULL, 0, 0);
      }
    }

    @Override
    public void run() {
      if (reducer != null) {
        Runs.reduce(Objects.requireNonNull(reducer), dtype, into, at, left, p, right, q, length);
      } else {
        Runs.divide(Objects.requireNonNull(divider), dtype, into, at, length, divisor);
      }
    }
  }
}
