// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import io.weft.testkit.sim.SimFault;
import java.util.BitSet;
import java.util.List;

/// The ranks that the faults of a run have harmed, which its failures may name:
///
/// | fault | harmed ranks |
/// |---|---|
/// | slow, paused, crashed, restarted, clock moved | the rank |
/// | host crashed | all ranks of the host |
/// | delay, cut | both ends, because neither can know the side of the fault |
/// | partition | the ranks that it separates; if one of them is the witness, also any rank on the other side, because both sides stop receiving from each other |
final class HarmedRanks {

  private final List<SimFault> faults;
  private final BitSet ranks = new BitSet();

  /// Creates the set for faults in a simulation of `size` ranks and `hosts` hosts.
  HarmedRanks(List<SimFault> faults, int size, int hosts) {
    this.faults = faults;
    for (SimFault fault : faults) {
      switch (fault) {
        case SimFault.Delay delay -> {
          ranks.set(delay.from());
          ranks.set(delay.to());
        }
        case SimFault.Slow slow -> ranks.set(slow.rank());
        case SimFault.Pause pause -> ranks.set(pause.rank());
        case SimFault.Crash crash -> ranks.set(crash.rank());
        case SimFault.HostCrash crash -> {
          for (int rank = 0; rank < size; rank++) {
            if ((long) rank * hosts / size == crash.host()) {
              ranks.set(rank);
            }
          }
        }
        case SimFault.Restart restart -> ranks.set(restart.rank());
        case SimFault.Partition partition -> partition.ranks().forEach(ranks::set);
        case SimFault.Cut cut -> {
          ranks.set(cut.from());
          ranks.set(cut.to());
        }
        case SimFault.ClockJump jump -> ranks.set(jump.rank());
      }
    }
  }

  /// Returns whether this rank was harmed in the view of all ranks.
  boolean of(int rank) {
    return rank >= 0 && ranks.get(rank);
  }

  /// Returns whether `witness` may have declared this rank lost.
  boolean excuses(int rank, int witness) {
    return of(rank) || parted(rank, witness);
  }

  /// Returns whether a rank with a moved clock may end an operation for which all others still
  /// wait, so that no rank is the culprit.
  boolean isHasty() {
    return faults.stream().anyMatch(SimFault.ClockJump.class::isInstance);
  }

  private boolean parted(int rank, int other) {
    return faults.stream()
        .anyMatch(
            fault ->
                fault instanceof SimFault.Partition partition
                    && partition.ranks().contains(rank) != partition.ranks().contains(other));
  }
}
