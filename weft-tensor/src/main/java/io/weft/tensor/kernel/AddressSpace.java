// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/// All native memory as one segment, for loops on vectors. What it is made of is constant to the
/// JIT. Of the segments that callers bring it is not: C2 moves the checks of their classes and
/// owners before such a loop, by how often they passed wherever else this JVM uses segments, and
/// where one of them fails there it throws the loop away and compiles it again, without end, while
/// the kernel runs interpreted.
///
/// So a kernel gets addresses for offsets, checked once: bounds, that the memory is there, and that
/// this thread may touch it. Who calls keeps the memory until the kernel returns.
final class AddressSpace {

  /// Null where this Java was not allowed native access: kernels then work on their callers'
  /// segments.
  private static final @Nullable MemorySegment ALL = all();

  private AddressSpace() {}

  @SuppressWarnings("restricted")
  private static @Nullable MemorySegment all() {
    return AddressSpace.class.getModule().isNativeAccessEnabled()
        ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
        : null;
  }

  /// Where a loop finds what `at` says of `data`.
  ///
  /// Hot path.
  static MemorySegment in(MemorySegment data) {
    MemorySegment all = ALL;
    return all == null ? data : all;
  }

  /// The place in `in(data)` of some bytes that lie inside of `data`. Throws
  /// `IllegalArgumentException` if it lies in the heap, and what any access throws if it is closed
  /// or of another thread.
  ///
  /// Hot path.
  static long at(MemorySegment data, long offset, long bytes) {
    if (ALL == null) {
      return offset;
    }
    if (!data.isNative()) {
      throw new IllegalArgumentException("memory in the heap; kernels work on native memory");
    }
    if (bytes > 0) {
      byte unused = data.get(ValueLayout.JAVA_BYTE, offset);
    }
    return data.address() + offset;
  }

  /// A reducer of any segments, by one that finds everything by `in`.
  static Reducer reducer(DType dtype, Reducer loop) {
    return (into, at, left, p, right, q, elements) -> {
      long bytes = Runs.bytes(dtype, into, at, left, p, right, q, elements);
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
    };
  }

  /// The same for a reducer that stores twice.
  static Reducer.Twin twin(DType dtype, Reducer.Twin loop) {
    return (into, at, also, alsoAt, left, p, right, q, elements) -> {
      long bytes = Runs.bytes(dtype, into, at, left, p, right, q, elements);
      Runs.bytes(dtype, also, alsoAt, elements);
      try {
        loop.combine(
            in(into),
            at(into, at, bytes),
            in(also),
            at(also, alsoAt, bytes),
            in(left),
            at(left, p, bytes),
            in(right),
            at(right, q, bytes),
            elements);
      } finally {
        Reference.reachabilityFence(into);
        Reference.reachabilityFence(also);
        Reference.reachabilityFence(left);
        Reference.reachabilityFence(right);
      }
    };
  }

  /// The same for a divider.
  static Divider divider(DType dtype, Divider loop) {
    return (data, offset, elements, divisor) -> {
      long bytes = Runs.bytes(dtype, data, offset, elements);
      try {
        loop.divide(in(data), at(data, offset, bytes), elements, divisor);
      } finally {
        Reference.reachabilityFence(data);
      }
    };
  }
}
