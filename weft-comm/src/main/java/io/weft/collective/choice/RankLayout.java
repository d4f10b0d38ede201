// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.List;

/// What a communicator's ranks are like, as far as rules ask.
///
/// @param ranks at least 1
/// @param hosts how many hosts they are on
/// @param sharesMemory whether all may reach each other's memory
/// @param throughKernel whether all that they send each other lies in one host's kernel meanwhile
/// @param bounces whether somebody's tensor is private, so that it passes through a bounce buffer
public record RankLayout(
    int ranks, int hosts, boolean sharesMemory, boolean throughKernel, boolean bounces) {

  /// Of ranks of which rank r is on host `hosts.get(r)`.
  ///
  /// @param sharesMemory whether all may reach each other's memory
  /// @param oneSided whether the transport reads and writes peers' memory without their processors
  public static RankLayout of(List<Integer> hosts, boolean sharesMemory, boolean oneSided) {
    int different = (int) hosts.stream().distinct().count();
    return new RankLayout(
        hosts.size(), different, sharesMemory, different == 1 && !oneSided, false);
  }

  /// The same ranks, where they share no memory.
  public RankLayout withoutSharedMemory() {
    return new RankLayout(ranks, hosts, false, throughKernel, false);
  }

  /// The same ranks, where somebody's tensor is private.
  public RankLayout bounced() {
    return new RankLayout(ranks, hosts, sharesMemory, throughKernel, true);
  }

  /// Whether there are several hosts, of which one has more than one rank.
  boolean crowded() {
    return hosts > 1 && hosts < ranks;
  }
}
