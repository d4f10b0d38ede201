// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.kv.spec.Consistency;
import java.time.Duration;
import java.util.stream.LongStream;

/// What workers of a simulated parameter server do: each pushes the same pairs again and again, all
/// values 1. In a table that is not asynchronous each push is followed by a pull that shows how far
/// all other workers are. Servers are the first ranks.
///
/// @param servers at least 1
/// @param workers at least 1
/// @param pairs of each push, at least one for each server
/// @param pushes of each worker that are timed
/// @param window pushes that a worker has under way at once, where the table is asynchronous
/// @param consistency of the table
/// @param pace how long the ranks compute
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

  /// Values of 4 bytes, and at first keys of 8.
  private static final int PAIR_BYTES = 12;

  /// 32-bit floats count exactly up to here.
  private static final int EXACT = 1 << 24;

  /// How long ranks compute.
  ///
  /// @param pause most that a worker computes before a push: drawn evenly for each worker, and
  ///   below that for each push, so that some are slower than others
  /// @param request what a server needs for anything that is asked of a shard
  /// @param pair what it needs besides for each pair of a shard
  public record Pace(Duration pause, Duration request, Duration pair) {}

  /// Throws `IllegalArgumentException` for what is too few or too many.
  public SimPushes {
    if (servers < 1 || workers < 1 || pairs < servers || pushes < 1 || window < 1) {
      throw new IllegalArgumentException(
          "%d servers, %d workers, %d pairs, %d pushes, window %d; at least 1, 1, one for each server, 1 and 1"
              .formatted(servers, workers, pairs, pushes, window));
    }
    if ((pushes + 1L) * workers > EXACT) {
      throw new IllegalArgumentException(
          "%d pushes of %d workers; 32-bit floats count exactly to %d"
              .formatted(pushes, workers, EXACT));
    }
  }

  /// Servers and workers.
  public int ranks() {
    return servers + workers;
  }

  /// Bytes of the values of a push.
  public long bytes() {
    return 4L * pairs;
  }

  boolean isAsynchronous() {
    return consistency.staleness() == Consistency.ASYNCHRONOUS;
  }

  /// Keys of the pairs.
  long[] keys() {
    return LongStream.range(0, pairs).map(it -> it * STRIDE).toArray();
  }

  long lastKey() {
    return (pairs - 1) * STRIDE;
  }

  /// How long a server needs for a push.
  Duration serving() {
    return pace.request().plus(pace.pair().multipliedBy(pairs / servers));
  }

  /// Room for requests that have come to a rank: at a server what all workers send at once, twice.
  /// A default for each of a thousand ranks would be more than a machine has.
  long memory(int rank) {
    long atOnce = rank < servers ? (long) workers * window * PAIR_BYTES * (pairs / servers + 1) : 0;
    return Math.max(LEAST_MEMORY, 2 * atOnce);
  }
}
