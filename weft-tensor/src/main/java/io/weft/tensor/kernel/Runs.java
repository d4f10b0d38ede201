// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ffm.HeldMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The bounds checks of a kernel's runs, and the addresses by which vector loops access them.
///
/// A vector loop accesses all native memory through one segment, by address. The class and owner of
/// that segment are constants to the JIT, unlike those of the callers' segments. C2 hoists the
/// checks of the latter out of the loop based on profiles of other uses of segments in this JVM.
/// When such a check fails, C2 discards the loop and recompiles it, repeatedly, while the kernel
/// runs interpreted (docs/adr/0063-kernels-on-addresses.md).
final class Runs {

  /// All native memory; null if this JVM does not allow native access. Loops then access their
  /// callers' segments.
  private static final @Nullable MemorySegment ALL = all();

  private Runs() {}

  /// Returns the length in bytes of each of three runs. Throws `IndexOutOfBoundsException`, before
  /// any write, if a run exceeds its segment.
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

  /// Returns the length of a run in bytes. Throws `IndexOutOfBoundsException` if it exceeds its
  /// segment.
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

  /// Returns the segment in which a loop accesses the position that `at` returns for `data`.
  ///
  /// Hot path.
  static MemorySegment in(MemorySegment data) {
    MemorySegment all = ALL;
    return all == null ? data : all;
  }

  /// Returns the position in `in(data)` of `bytes` bytes that lie inside `data`. Throws
  /// `IllegalArgumentException` for heap memory, which has no address. If `data` is closed or
  /// confined to another thread, throws the exception of an ordinary access.
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

  /// Returns whether another thread might close an arena of these segments while a loop uses their
  /// addresses.
  ///
  /// Hot path.
  static boolean canBeFreed(MemorySegment into, MemorySegment left, MemorySegment right) {
    return canBeFreed(into) || canBeFreed(left) || canBeFreed(right);
  }

  /// Hot path.
  static boolean canBeFreed(MemorySegment data) {
    return ALL != null && HeldMemory.canBeClosed(data);
  }

  /// Runs a reducer's loop on memory that remains allocated.
  ///
  /// Hot path.
  static void reduce(
      ReduceKernel loop,
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

  /// Runs a divider's loop on memory that remains allocated.
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

  /// A call of a loop on memory whose arena another thread might close. The arena is held open
  /// until the loop has ended. One instance per thread. Its fields carry the arguments, so a call
  /// does not allocate; they are empty between calls.
  static final class Held implements Runnable {

    private static final ThreadLocal<Held> OF_THREAD = ThreadLocal.withInitial(Held::new);

    private DType dtype = DType.FLOAT32;
    private @Nullable ReduceKernel reducer;
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
        ReduceKernel loop,
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
