// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.util.List;
import java.util.Map;

/// The names of the two tasks. Rank 0 consumes and measures, rank 1 owns the variables.
final class Tasks {

  static final String CONSUMER = "consumer";
  static final String PRODUCER = "producer";

  private Tasks() {}

  /// Returns the cluster of tasks on this host at these ports.
  static ClusterSpec cluster(int consumerPort, int producerPort) {
    return ClusterSpec.of(
        Map.of(
            CONSUMER,
            List.of("127.0.0.1:" + consumerPort),
            PRODUCER,
            List.of("127.0.0.1:" + producerPort)));
  }

  /// Returns the task of a rank.
  static Task of(int rank) {
    return new Task(rank == 0 ? CONSUMER : PRODUCER, 0);
  }
}
