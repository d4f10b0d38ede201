// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import io.weft.testkit.sim.SimFault;
import java.util.BitSet;
import java.util.List;

/// Whom the faults of a run have harmed, so whom its failures may name:
///
/// | fault | harmed |
/// |---|---|
/// | slow, paused, crashed, started again, clock moved | the rank |
/// | host crashed | all ranks of the host |
/// | delay, cut | both ends: neither can know on which side of it the trouble is |
/// | partition | the ranks that it cuts off; and, where the one that gave it up is one of those, any rank on the other side: two sides that do not hear each other say the same of each other |
final class HarmedRanks {

  private final List<SimFault> faults;
  private final BitSet ranks = new BitSet();

  /// Of faults in a simulation of so many ranks and hosts.
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

  /// Whether this rank was harmed in everybody's eyes.
  boolean of(int rank) {
    return rank >= 0 && ranks.get(rank);
  }

  /// Whether `witness` may have given this rank up.
  boolean excuses(int rank, int witness) {
    return of(rank) || parted(rank, witness);
  }

  /// Whether a rank may end what all others still wait for, so that nobody in particular is to
  /// blame: one whose clock has moved.
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
