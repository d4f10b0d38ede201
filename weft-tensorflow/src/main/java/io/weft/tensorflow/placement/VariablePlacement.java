// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

/// How variables are spread over the tasks that keep them.
public enum VariablePlacement {
  /// One after another, in the graph's order.
  ROUND_ROBIN,
  /// The largest first, each to the task that has the fewest bytes so far: the fullest task then
  /// has at most 4/3 of what the best distribution gives it (GRAHAM69). All shapes must be known.
  BALANCED_BYTES
}
