// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.cluster.Topology;
import java.util.List;
import java.util.stream.IntStream;

/// The workers of each host and the leader that communicates with the servers. Pure; equal on all
/// ranks.
///
/// @param leaders the lowest worker of each host, ascending
/// @param mine the workers of this rank's host, ascending; empty on a rank that is not a worker
record HostLayout(List<Integer> leaders, List<Integer> mine) {

  /// @param size the number of ranks at the start of the job
  /// @param servers the number of servers, which are the first ranks
  static HostLayout of(Topology topology, int size, int servers, int rank) {
    KvOptions.requireWorkers(servers, size);
    List<Integer> leaders =
        IntStream.range(servers, size)
            .filter(it -> workersOf(topology, size, servers, it).getFirst() == it)
            .boxed()
            .toList();
    return new HostLayout(
        leaders,
        rank < servers || rank >= size ? List.of() : workersOf(topology, size, servers, rank));
  }

  private static List<Integer> workersOf(Topology topology, int size, int servers, int rank) {
    String host = topology.members().get(rank).host();
    return IntStream.range(servers, size)
        .filter(it -> topology.members().get(it).host().equals(host))
        .boxed()
        .toList();
  }
}
