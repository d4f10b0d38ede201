// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.traffic;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/// What each worker does in each of its steps: receives every tensor from the server that holds it,
/// computes, and sends as many gradients back. Workers do not wait for each other. Servers are the
/// first ranks; tensor i is on server i modulo their number.
///
/// @param servers at least 1
/// @param workers at least 1
/// @param tensors of a step, at least one for each server
/// @param bytes of each tensor and of each gradient, a multiple of 4
/// @param compute how long a worker computes in a step
/// @param steps of each worker, at least 2: the first is not counted
public record SimTraffic(
    int servers, int workers, int tensors, int bytes, Duration compute, int steps) {

  /// The incarnation of all: nobody is started anew.
  private static final long INCARNATION = 1;

  private static final long LEAST_MEMORY = 1 << 20;

  /// What the memory for what arrives gives out at least.
  private static final int PAGE_BYTES = 4096;

  /// Throws `IllegalArgumentException` for what is too few.
  public SimTraffic {
    if (servers < 1 || workers < 1 || tensors < servers || steps < 2) {
      throw new IllegalArgumentException(
          "%d servers, %d workers, %d tensors, %d steps; at least 1, 1, one for each server, and 2"
              .formatted(servers, workers, tensors, steps));
    }
    if (bytes < 4 || bytes % 4 != 0) {
      throw new IllegalArgumentException(
          "tensors of " + bytes + " bytes; they are of 4-byte elements");
    }
  }

  /// Servers and workers.
  public int ranks() {
    return servers + workers;
  }

  /// Room for what arrives at a rank: at a server what all workers send at once, at a worker what
  /// all servers do, twice. A default for each of a thousand ranks would be more than a machine
  /// has.
  long memory(int rank) {
    long tensorsAtOnce = rank < servers ? (long) workers * tensorsOf(rank).size() : tensors;
    return Math.max(LEAST_MEMORY, 2 * tensorsAtOnce * Math.max(bytes, PAGE_BYTES));
  }

  int server(int tensor) {
    return tensor % servers;
  }

  /// The tensors of a server.
  List<Integer> tensorsOf(int server) {
    return IntStream.range(0, tensors).filter(t -> server(t) == server).boxed().toList();
  }

  Edge parameter(int tensor, int worker) {
    return new Edge(server(tensor), INCARNATION, worker, "parameter" + tensor);
  }

  Edge gradient(int tensor, int worker) {
    return new Edge(worker, INCARNATION, server(tensor), "gradient" + tensor);
  }

  /// The number of a worker's step; each worker counts its own.
  static long step(int worker, int number) {
    return RendezvousKey.step(worker, number);
  }

  /// What all four bytes of an element are, so that a tensor of another step shows.
  static int content(int tensor, int worker, int number) {
    return (tensor * 31 + worker) * 31 + number;
  }
}
