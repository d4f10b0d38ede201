// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import java.lang.foreign.MemorySegment;

/// A reduction whose result goes to two places, as when two ranks sum and one computes for both:
/// `into[i] = also[i] = left[i] op right[i]`, to the bit what [Reducer] gives. Stateless; any
/// thread. Each place may be an operand; otherwise runs must not overlap.
@FunctionalInterface
public interface TwinReducer {

  /// Combines `elements` elements of two operands. Offsets are in bytes. Bounds are checked before
  /// anything is written. In one pass over memory where the type and the operation have a kernel
  /// for that; else by blocks that stay in the first-level cache between the two.
  ///
  /// Hot path.
  void combine(
      MemorySegment into,
      long intoOffset,
      MemorySegment also,
      long alsoOffset,
      MemorySegment left,
      long leftOffset,
      MemorySegment right,
      long rightOffset,
      long elements);
}
