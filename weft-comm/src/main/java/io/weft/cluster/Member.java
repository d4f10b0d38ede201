// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Address;
import java.util.List;
import java.util.Objects;

/// One rank of a job.
///
/// @param rank world rank, 0 to size-1
/// @param localRank position among the ranks of its host; -1 for a rank that never arrived
/// @param crossRank position of its host among the hosts that have this local rank; -1 for a rank
///   that never arrived
/// @param host its host's name, for people
/// @param process the identity of its process: opaque, equal on all ranks; empty = unknown
/// @param processors the processors that it may use
/// @param addresses the listening addresses of its transports
public record Member(
    int rank,
    int localRank,
    int crossRank,
    String host,
    String process,
    Processors processors,
    List<Address> addresses) {

  /// Copies the list.
  public Member {
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(process, "process");
    Objects.requireNonNull(processors, "processors");
    addresses = List.copyOf(addresses);
  }

  /// Returns the entry for a rank that took its number and ended before it had joined.
  static Member absent(int rank) {
    return new Member(rank, -1, -1, "", "", Processors.UNKNOWN, List.of());
  }
}
