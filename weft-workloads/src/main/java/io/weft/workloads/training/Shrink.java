// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import java.util.List;

/// Ranks were lost, and training went on without them.
///
/// @param epoch of the job: how often it has shrunk
/// @param step taken last before it went on, counted from the first epoch of training
/// @param lost ranks, by the numbers with which the job began
/// @param survivors how many ranks were left
/// @param seconds from the failure until training went on
public record Shrink(long epoch, long step, List<Integer> lost, int survivors, double seconds) {

  /// Copies the list.
  public Shrink {
    lost = List.copyOf(lost);
  }
}
