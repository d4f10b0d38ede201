// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import java.lang.foreign.MemorySegment;

/// One reduction of one element type: `into[i] = into[i] op from[i]`, elements combined
/// independently of each other, so that the result does not depend on how a run is cut. Stateless;
/// any thread. The runs must not overlap unless equal.
public interface Reducer {

  /// Combines `elements` elements. Offsets are in bytes. Bounds are checked once per call.
  ///
  /// Hot path.
  void reduce(
      MemorySegment into, long intoOffset, MemorySegment from, long fromOffset, long elements);
}
