// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.List;

/// What a communicator's ranks are like, as far as rules ask.
///
/// @param ranks at least 1
/// @param hosts how many hosts they are on
/// @param sharesMemory whether all may reach each other's memory
public record RankLayout(int ranks, int hosts, boolean sharesMemory) {

  /// Of ranks of which rank r is on host `hosts.get(r)`.
  public static RankLayout of(List<Integer> hosts, boolean sharesMemory) {
    return new RankLayout(hosts.size(), (int) hosts.stream().distinct().count(), sharesMemory);
  }

  /// Whether there are several hosts, of which one has more than one rank.
  boolean crowded() {
    return hosts > 1 && hosts < ranks;
  }
}
