// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// Bounds of the runs that a kernel works on.
final class Runs {

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
}
