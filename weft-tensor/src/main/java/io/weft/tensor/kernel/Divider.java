// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import java.lang.foreign.MemorySegment;

/// The in-place division of a run's elements by the number of contributions. Stateless; any thread.
@FunctionalInterface
interface Divider {

  /// Divides `elements` elements from byte `offset` by the positive `divisor`. Floating types
  /// divide by the IEEE rules; integers truncate toward zero. Checks bounds once per call.
  ///
  /// Hot path.
  void divide(MemorySegment data, long offset, long elements, int divisor);
}
