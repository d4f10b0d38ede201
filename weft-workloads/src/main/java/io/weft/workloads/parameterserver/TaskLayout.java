// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.cluster.ProcessSet;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// The mapping of ranks to tasks: servers first, in the order of the names of their jobs.
///
/// @param servers the numbers of tasks
record TaskLayout(Servers servers) {

  /// The job of servers.
  static final String SERVERS = "ps";

  /// The job of workers.
  static final String WORKERS = "worker";

  private static final int NO_PORT = 1;

  boolean isServer(int rank) {
    return rank < servers.servers();
  }

  /// Returns the index of a worker among the workers.
  int worker(int rank) {
    return rank - servers.servers();
  }

  Task task(int rank) {
    return isServer(rank) ? new Task(SERVERS, rank) : new Task(WORKERS, worker(rank));
  }

  /// Returns the ranks of all workers.
  ProcessSet workers() {
    return new ProcessSet(IntStream.range(servers.servers(), servers.ranks()).boxed().toList());
  }

  /// Returns the tasks at these addresses, by rank.
  ClusterSpec at(List<String> addresses) {
    return ClusterSpec.of(
        Map.of(
            SERVERS,
            addresses.subList(0, servers.servers()),
            WORKERS,
            addresses.subList(servers.servers(), servers.ranks())));
  }

  /// Returns the tasks at addresses on which no process listens, because Weft uses ranks instead.
  ClusterSpec nowhere() {
    return at(
        IntStream.range(0, servers.ranks()).mapToObj(r -> "127.0.0.1:" + (NO_PORT + r)).toList());
  }
}
