// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import static io.weft.perf.experiment.Experiment.within;

import io.weft.rendezvous.Edge;
import io.weft.testkit.traffic.StepTransfers;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The traffic that every contestant runs in a round. In each step, a worker receives every tensor
/// from the server that owns it, computes, and sends equally many gradients back. A server provides
/// a worker's next tensors when all gradients of the worker have arrived. Workers do not wait for
/// each other. `tools/simulate traffic` simulates the same traffic.
///
/// @param servers number of server processes, at least 1; tensor i is on server i modulo this
///   number
/// @param tensors number of tensors of a step, at least one for each server
/// @param bytes size of each tensor and gradient, a multiple of 4
/// @param compute a worker's pause between the last tensor and the first gradient
/// @param warmUp untimed traffic before each case; a round begins with five times that traffic of
///   the largest case
/// @param window measuring time
/// @param workers number of workers of each case
record TrafficPlan(
    int servers,
    int tensors,
    int bytes,
    Duration compute,
    Duration warmUp,
    Duration window,
    List<Integer> workers) {

  /// The rank of the process with all workers. The servers have the following ranks.
  static final int CLIENT = 0;

  private static final int MOST_WORKERS = 10_000;
  private static final int MOST_SERVERS = 100;
  private static final int MOST_TENSORS = 10_000;
  private static final int MOST_BYTES = 1 << 20;
  private static final int WORDS_BEFORE_WORKERS = 6;

  /// The incarnation of all ranks, because none is restarted.
  private static final long INCARNATION = 1;

  /// Throws `IllegalArgumentException` with the name of the wrong option.
  TrafficPlan {
    workers = List.copyOf(workers);
    within("--servers", servers, 1, MOST_SERVERS);
    within("--tensors", tensors, servers, MOST_TENSORS);
    within("--bytes", bytes, Integer.BYTES, MOST_BYTES);
    if (bytes % Integer.BYTES != 0) {
      throw new IllegalArgumentException("--bytes: " + bytes + " is not a multiple of 4");
    }
    within(
        "--compute",
        ClampedDuration.millis(compute),
        0,
        ClampedDuration.millis(Duration.ofMinutes(1)));
    within(
        "--warm-up",
        ClampedDuration.millis(warmUp),
        0,
        ClampedDuration.millis(Duration.ofMinutes(1)));
    within(
        "--window",
        ClampedDuration.millis(window),
        1,
        ClampedDuration.millis(Duration.ofMinutes(10)));
    if (workers.isEmpty()) {
      throw new IllegalArgumentException("--workers: none");
    }
    workers.forEach(count -> within("--workers", count, 1, MOST_WORKERS));
  }

  /// Returns the arguments of every program: `SERVERS TENSORS BYTES COMPUTE_MICROS WARM_UP_MILLIS
  /// WINDOW_MILLIS WORKERS...`.
  List<String> words() {
    List<String> words = new ArrayList<>();
    Stream.of(
            (long) servers,
            (long) tensors,
            (long) bytes,
            ClampedDuration.nanos(compute) / 1000,
            ClampedDuration.millis(warmUp),
            ClampedDuration.millis(window))
        .map(String::valueOf)
        .forEach(words::add);
    workers.forEach(count -> words.add(count.toString()));
    return words;
  }

  /// Parses the arguments. Throws `IllegalArgumentException`.
  static TrafficPlan parse(List<String> words) {
    if (words.size() <= WORDS_BEFORE_WORKERS) {
      throw new IllegalArgumentException(
          "usage: SERVERS TENSORS BYTES COMPUTE_MICROS WARM_UP_MILLIS WINDOW_MILLIS WORKERS...");
    }
    List<Integer> numbers = words.stream().map(Integer::valueOf).toList();
    return new TrafficPlan(
        numbers.get(0),
        numbers.get(1),
        numbers.get(2),
        Duration.ofNanos(numbers.get(3) * 1000L),
        Duration.ofMillis(numbers.get(4)),
        Duration.ofMillis(numbers.get(5)),
        numbers.subList(WORDS_BEFORE_WORKERS, numbers.size()));
  }

  /// Returns the keys of the cases in a report.
  List<String> keys() {
    return workers.stream().map(String::valueOf).toList();
  }

  /// Returns the number of ranks: the client and the servers.
  int ranks() {
    return 1 + servers;
  }

  int most() {
    return workers.stream().mapToInt(count -> count).max().orElseThrow();
  }

  /// Returns the rank that owns a tensor.
  private int server(int tensor) {
    return 1 + tensor % servers;
  }

  /// Returns the tensors of a server, or all tensors for the client.
  List<Integer> tensorsOf(int rank) {
    return IntStream.range(0, tensors)
        .filter(tensor -> rank == CLIENT || server(tensor) == rank)
        .boxed()
        .toList();
  }

  /// Returns the tensors that a rank sends and receives for one worker.
  StepTransfers.Tensors of(int rank, int worker) {
    List<Integer> numbers = tensorsOf(rank);
    List<Edge> parameters = numbers.stream().map(it -> parameter(it, worker)).toList();
    List<Edge> gradients = numbers.stream().map(it -> gradient(it, worker)).toList();
    return rank == CLIENT
        ? new StepTransfers.Tensors(numbers, gradients, parameters)
        : new StepTransfers.Tensors(numbers, parameters, gradients);
  }

  Edge parameter(int tensor, int worker) {
    return new Edge(server(tensor), INCARNATION, CLIENT, "parameter" + tensor + "/" + worker);
  }

  Edge gradient(int tensor, int worker) {
    return new Edge(CLIENT, INCARNATION, server(tensor), "gradient" + tensor + "/" + worker);
  }
}
