// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.DType;
import io.weft.tensor.kernel.Reducer;
import org.jspecify.annotations.Nullable;

/// One exchange of an operation: who sends what to whom, where it lies, how it is combined.
///
/// @param plan the schedule of this rank
/// @param placement the memory
/// @param reducer null where nothing is combined
/// @param dtype element type
/// @param divisor of AVERAGE, 1 = none
record Stage(Plan plan, Placement placement, @Nullable Reducer reducer, DType dtype, int divisor) {

  /// Most phases an operation may have.
  static final int MAX_PHASES = 2;
}
