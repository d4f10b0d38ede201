// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Address;
import java.util.List;
import java.util.Objects;

/// One rank of a job.
///
/// @param rank world rank, 0 to size-1
/// @param localRank position among the ranks of its host; -1 for one that never came
/// @param crossRank position of its host among the hosts that have this local rank; -1 likewise
/// @param host name, for people
/// @param process which process it is: opaque, the same on all ranks; empty = not known
/// @param processors those that it may use
/// @param addresses where its transports listen
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

  /// In the place of a rank that took its number and ended before it had joined.
  static Member absent(int rank) {
    return new Member(rank, -1, -1, "", "", Processors.UNKNOWN, List.of());
  }
}
