// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

/// The clocks of the workers of one table on one shard, and which pulls they let pass. Pure: no
/// thread, no time. Confined to the shard's thread.
final class Clocks {

  private final long[] clocks;
  private final boolean[] left;
  private final int staleness;

  /// @param staleness as `Consistency` has it; 1 or more, or asynchronous
  Clocks(int workers, int staleness) {
    this.clocks = new long[workers];
    this.left = new boolean[workers];
    this.staleness = staleness;
  }

  /// A worker says that it is at this clock; a clock that it has passed already has no effect.
  void advance(int worker, long clock) {
    clocks[worker] = Math.max(clocks[worker], clock);
  }

  /// The clock of a worker.
  long clock(int worker) {
    return clocks[worker];
  }

  /// Nobody waits for this worker any more.
  void leave(int worker) {
    left[worker] = true;
  }

  /// Whether it is gone.
  boolean hasLeft(int worker) {
    return left[worker];
  }

  /// The clock of the slowest worker that is there; the largest number if none is.
  long slowest() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < clocks.length; i++) {
      least = left[i] ? least : Math.min(least, clocks[i]);
    }
    return least;
  }

  /// Whether a pull of a worker at this clock may be answered: it sees all pushes of clocks up to
  /// `clock` - staleness of all workers [HCC13 §3].
  boolean lets(long clock) {
    return staleness < 0 || clock - staleness <= slowest();
  }
}
