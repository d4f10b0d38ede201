// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.kv.spec.Consistency;
import java.time.Duration;
import java.util.stream.LongStream;

/// The work of the workers of a simulated parameter server. Each worker repeatedly pushes the same
/// pairs, all with value 1. Unless the table is asynchronous, each push is followed by a pull that
/// shows the progress of all other workers. Servers are the first ranks.
///
/// @param servers number of servers, at least 1
/// @param workers number of workers, at least 1
/// @param pairs number of pairs of each push, at least one for each server
/// @param pushes number of timed pushes of each worker
/// @param window number of pushes that a worker keeps in flight with an asynchronous table
/// @param consistency consistency of the table
/// @param pace computing times of the ranks
public record SimPushes(
    int servers,
    int workers,
    int pairs,
    int pushes,
    int window,
    Consistency consistency,
    Pace pace) {

  private static final long STRIDE = 7;
  private static final long LEAST_MEMORY = 4 << 20;

  /// The size of a value, 4 bytes, and of a key, 8 bytes, which the first push includes.
  private static final int PAIR_BYTES = 12;

  /// The limit up to which 32-bit floats are exact integers.
  private static final int EXACT = 1 << 24;

  /// The computing times of the ranks.
  ///
  /// @param pause longest computing time of a worker before a push; the limit of each worker is
  ///   drawn uniformly below it, and each pause uniformly below that limit, so that workers differ
  ///   in speed
  /// @param request time that a server needs for each request to a shard
  /// @param pair additional time that it needs for each pair of a shard
  public record Pace(Duration pause, Duration request, Duration pair) {}

  /// Throws `IllegalArgumentException` for numbers out of range.
  public SimPushes {
    if (servers < 1 || workers < 1 || pairs < servers || pushes < 1 || window < 1) {
      throw new IllegalArgumentException(
          "%d servers, %d workers, %d pairs, %d pushes, window %d; at least 1, 1, one for each server, 1 and 1"
              .formatted(servers, workers, pairs, pushes, window));
    }
    if ((pushes + 1L) * workers > EXACT) {
      throw new IllegalArgumentException(
          "%d pushes of %d workers; 32-bit floats are exact up to %d"
              .formatted(pushes, workers, EXACT));
    }
  }

  /// Returns the number of servers and workers.
  public int ranks() {
    return servers + workers;
  }

  /// Returns the size of a push's values in bytes.
  public long bytes() {
    return 4L * pairs;
  }

  boolean isAsynchronous() {
    return consistency.staleness() == Consistency.ASYNCHRONOUS;
  }

  /// Returns the keys of the pairs.
  long[] keys() {
    return LongStream.range(0, pairs).map(it -> it * STRIDE).toArray();
  }

  long lastKey() {
    return (pairs - 1) * STRIDE;
  }

  /// Returns the time that a server needs for a push.
  Duration serving() {
    return pace.request().plus(pace.pair().multipliedBy(pairs / servers));
  }

  /// Returns the memory for received requests: at a server twice the size of one window of all
  /// workers. The default for each of a thousand ranks would exceed the memory of a machine.
  long memory(int rank) {
    long atOnce = rank < servers ? (long) workers * window * PAIR_BYTES * (pairs / servers + 1) : 0;
    return Math.max(LEAST_MEMORY, 2 * atOnce);
  }
}
