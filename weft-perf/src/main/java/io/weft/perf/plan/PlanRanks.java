// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import java.util.List;
import java.util.stream.IntStream;

/// The ranks of a job and their places.
///
/// @param count number of ranks, at least 1
/// @param perHost number of consecutive ranks on each host, at least 1
/// @param processors number of processors of a rank, which compute and move bytes; 0 if an
///   accelerator computes, so that moving bytes does not delay the computation
public record PlanRanks(int count, int perHost, int processors) {

  /// Throws `IllegalArgumentException` for a number out of range.
  public PlanRanks {
    if (count < 1 || perHost < 1 || processors < 0) {
      throw new IllegalArgumentException(
          "%d ranks, %d on a host, %d processors each: at least 1, 1 and 0"
              .formatted(count, perHost, processors));
    }
  }

  int hosts() {
    return Math.ceilDiv(count, perHost);
  }

  /// Returns the number of ranks on a full host.
  int local() {
    return Math.min(count, perHost);
  }

  /// Returns the host of each rank.
  List<Integer> places() {
    return IntStream.range(0, count).map(rank -> rank / perHost).boxed().toList();
  }

  /// Returns the delay of the computation for each unit of processor time that communication takes.
  double delay() {
    return processors == 0 ? 0 : 1.0 / processors;
  }
}
