// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.List;

/// The properties of a communicator's ranks that rules can test.
///
/// @param ranks number of ranks, at least 1
/// @param hosts number of hosts
/// @param sharesMemory true if all ranks may access each other's memory
/// @param throughKernel true if all bytes between ranks pass through one host's kernel
/// @param bounces true if the tensor of some rank is private and passes through a bounce buffer
public record RankLayout(
    int ranks, int hosts, boolean sharesMemory, boolean throughKernel, boolean bounces) {

  /// Returns the layout where rank r is on host `hosts.get(r)`.
  ///
  /// @param sharesMemory true if all ranks may access each other's memory
  /// @param oneSided true if the transport reads and writes peers' memory without their processors
  public static RankLayout of(List<Integer> hosts, boolean sharesMemory, boolean oneSided) {
    int different = (int) hosts.stream().distinct().count();
    return new RankLayout(
        hosts.size(), different, sharesMemory, different == 1 && !oneSided, false);
  }

  /// Returns the layout of these ranks without shared memory, so that no tensor passes through a
  /// bounce buffer.
  public RankLayout withoutSharedMemory() {
    return new RankLayout(ranks, hosts, false, throughKernel, false);
  }

  /// Returns the layout of these ranks where some rank's tensor passes through a bounce buffer.
  public RankLayout bounced() {
    return new RankLayout(ranks, hosts, sharesMemory, throughKernel, true);
  }

  /// Returns whether there are several hosts, and one of them has more than one rank.
  boolean crowded() {
    return hosts > 1 && hosts < ranks;
  }
}
