// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import java.lang.foreign.MemorySegment;

/// A reduction of one element type: `into[i] = left[i] op right[i]`. Elements are combined
/// independently, so segment boundaries do not affect the result. The operands commute bit for bit.
/// Stateless; any thread. Runs must not overlap unless they are equal. Native memory is fast, and
/// no other thread may free it before the call returns. Runs may also lie on the heap.
@FunctionalInterface
public interface ReduceKernel {

  /// Combines `elements` elements of two operands in one pass. Offsets are in bytes. Checks bounds
  /// once per call. A copy of one operand followed by `reduce` would move 50% more bytes.
  ///
  /// Hot path.
  void combine(
      MemorySegment into,
      long intoOffset,
      MemorySegment left,
      long leftOffset,
      MemorySegment right,
      long rightOffset,
      long elements);

  /// Combines in place: `into[i] = into[i] op from[i]`.
  ///
  /// Hot path.
  default void reduce(
      MemorySegment into, long intoOffset, MemorySegment from, long fromOffset, long elements) {
    combine(into, intoOffset, into, intoOffset, from, fromOffset, elements);
  }
}
