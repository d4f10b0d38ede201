// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import java.lang.foreign.MemorySegment;

/// One reduction of one element type: `into[i] = left[i] op right[i]`, elements combined
/// independently of each other, so that the result does not depend on how a run is cut; the
/// operands commute, to the bit. Stateless; any thread. Runs must not overlap unless equal. Native
/// memory is fast and must not be freed by another thread before the call returns; runs may lie in
/// the heap too.
@FunctionalInterface
public interface Reducer {

  /// Combines `elements` elements of two operands. Offsets are in bytes. Bounds are checked once
  /// per call. In one pass: a copy of one operand and `reduce` move half as many bytes again.
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

  /// The same where the result takes the place of the first operand: `into[i] = into[i] op
  /// from[i]`.
  ///
  /// Hot path.
  default void reduce(
      MemorySegment into, long intoOffset, MemorySegment from, long fromOffset, long elements) {
    combine(into, intoOffset, into, intoOffset, from, fromOffset, elements);
  }
}
