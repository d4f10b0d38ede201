// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.cluster.Topology;
import java.util.List;
import java.util.stream.IntStream;

/// Which workers share a host, and which one of them speaks with the servers. Pure; the same on all
/// ranks.
///
/// @param leaders the lowest worker of each host, ascending
/// @param mine the workers of this rank's host, ascending; empty on a server
record HostLayout(List<Integer> leaders, List<Integer> mine) {

  /// @param size how many ranks began the job
  /// @param servers how many of the first ranks are servers
  static HostLayout of(Topology topology, int size, int servers, int rank) {
    KvOptions.requireWorkers(servers, size);
    List<Integer> leaders =
        IntStream.range(servers, size)
            .filter(it -> workersOf(topology, size, servers, it).getFirst() == it)
            .boxed()
            .toList();
    return new HostLayout(
        leaders, rank < servers ? List.of() : workersOf(topology, size, servers, rank));
  }

  private static List<Integer> workersOf(Topology topology, int size, int servers, int rank) {
    String host = topology.members().get(rank).host();
    return IntStream.range(servers, size)
        .filter(it -> topology.members().get(it).host().equals(host))
        .boxed()
        .toList();
  }
}
