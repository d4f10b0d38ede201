// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.traffic;

import io.weft.rendezvous.Edge;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/// The work of each worker in each step. It receives every tensor from the server that owns it,
/// computes, and sends equally many gradients back. Workers do not wait for each other. Servers are
/// the first ranks. Tensor i is on server i modulo their number.
///
/// @param servers number of servers, at least 1
/// @param workers number of workers, at least 1
/// @param tensors number of tensors of a step, at least one for each server
/// @param bytes size of each tensor and of each gradient, a multiple of 4
/// @param compute computing time of a worker in a step
/// @param steps number of steps of each worker, at least 2; the first does not count
public record SimTraffic(
    int servers, int workers, int tensors, int bytes, Duration compute, int steps) {

  /// The incarnation of all ranks, because none is restarted.
  private static final long INCARNATION = 1;

  private static final long LEAST_MEMORY = 1 << 20;

  /// The smallest allocation for a received tensor.
  private static final int PAGE_BYTES = 4096;

  /// Throws `IllegalArgumentException` for numbers out of range.
  public SimTraffic {
    if (servers < 1 || workers < 1 || tensors < servers || steps < 2) {
      throw new IllegalArgumentException(
          "%d servers, %d workers, %d tensors, %d steps; at least 1, 1, one for each server, and 2"
              .formatted(servers, workers, tensors, steps));
    }
    if (bytes < 4 || bytes % 4 != 0) {
      throw new IllegalArgumentException(
          "tensors of " + bytes + " bytes; the size must be a multiple of 4");
    }
  }

  /// Returns the number of servers and workers.
  public int ranks() {
    return servers + workers;
  }

  /// Returns the memory for received tensors: twice the tensors that all workers send concurrently
  /// to a server, or all servers to a worker. The default for each of a thousand ranks would exceed
  /// the memory of a machine.
  long memory(int rank) {
    long tensorsAtOnce = rank < servers ? (long) workers * tensorsOf(rank).size() : tensors;
    return Math.max(LEAST_MEMORY, 2 * tensorsAtOnce * Math.max(bytes, PAGE_BYTES));
  }

  int server(int tensor) {
    return tensor % servers;
  }

  /// Returns the tensors of a server.
  List<Integer> tensorsOf(int server) {
    return IntStream.range(0, tensors).filter(t -> server(t) == server).boxed().toList();
  }

  Edge parameter(int tensor, int worker) {
    return new Edge(server(tensor), INCARNATION, worker, "parameter" + tensor);
  }

  Edge gradient(int tensor, int worker) {
    return new Edge(worker, INCARNATION, server(tensor), "gradient" + tensor);
  }
}
