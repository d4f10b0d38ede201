// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

/// The distribution of variables over the tasks that keep them.
public enum VariablePlacement {
  /// In turn, in the graph's order.
  ROUND_ROBIN,
  /// Largest first, each to the task with the fewest bytes so far. The fullest task then has at
  /// most 4/3 of its bytes in the best distribution (GRAHAM69). All shapes must be known.
  BALANCED_BYTES
}
