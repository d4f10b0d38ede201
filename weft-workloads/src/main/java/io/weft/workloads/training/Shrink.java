// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import java.util.List;

/// The loss of ranks, after which training continued without them.
///
/// @param epoch of the job: the number of times it has shrunk
/// @param step the last step before training continued, counted from the first epoch of training
/// @param lost ranks, by the numbers with which the job began
/// @param survivors the number of remaining ranks
/// @param seconds from the failure until training continued
public record Shrink(long epoch, long step, List<Integer> lost, int survivors, double seconds) {

  /// Copies the list.
  public Shrink {
    lost = List.copyOf(lost);
  }
}
