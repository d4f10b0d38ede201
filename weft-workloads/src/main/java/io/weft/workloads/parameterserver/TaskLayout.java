// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.cluster.ProcessSet;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// Which rank is which task: servers first, as tasks are ordered by the names of their jobs.
///
/// @param servers how many of each
record TaskLayout(Servers servers) {

  /// The job of servers.
  static final String SERVERS = "ps";

  /// The job of workers.
  static final String WORKERS = "worker";

  private static final int NO_PORT = 1;

  boolean isServer(int rank) {
    return rank < servers.servers();
  }

  /// Number of a worker among the workers.
  int worker(int rank) {
    return rank - servers.servers();
  }

  Task task(int rank) {
    return isServer(rank) ? new Task(SERVERS, rank) : new Task(WORKERS, worker(rank));
  }

  /// The ranks of all workers.
  ProcessSet workers() {
    return new ProcessSet(IntStream.range(servers.servers(), servers.ranks()).boxed().toList());
  }

  /// The tasks at these addresses, by rank.
  ClusterSpec at(List<String> addresses) {
    return ClusterSpec.of(
        Map.of(
            SERVERS,
            addresses.subList(0, servers.servers()),
            WORKERS,
            addresses.subList(servers.servers(), servers.ranks())));
  }

  /// The tasks where nobody listens: Weft reaches ranks, not addresses.
  ClusterSpec nowhere() {
    return at(
        IntStream.range(0, servers.ranks()).mapToObj(r -> "127.0.0.1:" + (NO_PORT + r)).toList());
  }
}
