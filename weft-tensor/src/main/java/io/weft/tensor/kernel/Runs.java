// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Bounds of the runs that a kernel works on, and where a loop on vectors finds them.
///
/// Such a loop finds all native memory in one segment, by its address. What that segment is made of
/// is constant to the JIT. Of the segments that callers bring it is not: C2 moves the checks of
/// their classes and owners before the loop, by how often they passed wherever else this JVM uses
/// segments, and where one of them fails there it throws the loop away and compiles it again,
/// without end, while the kernel runs interpreted (docs/adr/0063-kernels-work-on-addresses.md).
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
}
