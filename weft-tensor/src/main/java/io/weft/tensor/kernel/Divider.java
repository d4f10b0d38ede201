// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import java.lang.foreign.MemorySegment;

/// Divides a run of elements by their number of contributions, in place. Stateless; any thread.
@FunctionalInterface
interface Divider {

  /// Divides `elements` elements from byte `offset` by `divisor`, which is positive. Floating types
  /// divide by the IEEE rules, integers truncate toward zero. Bounds are checked once per call.
  ///
  /// Hot path.
  void divide(MemorySegment data, long offset, long elements, int divisor);
}
