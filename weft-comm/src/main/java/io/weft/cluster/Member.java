// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Address;
import java.util.List;

/// One rank of a job.
///
/// @param rank world rank, 0 to size-1
/// @param localRank position among the ranks of its host
/// @param crossRank position of its host among the hosts that have this local rank
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
    addresses = List.copyOf(addresses);
  }
}
