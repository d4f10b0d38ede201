// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.util.ArrayList;
import java.util.List;

/// The clocks of the workers of one table on one shard, and the rule by which pulls may be
/// answered. Pure: no threads, no time. Confined to the shard's thread.
final class Clocks {

  private final long[] clocks;
  private final boolean[] left;
  private final int staleness;

  /// The clock of the slowest worker that has not left, and the number of workers at this clock.
  private long slowest;

  private int atSlowest;

  /// @param staleness as in `Consistency`; negative = asynchronous
  Clocks(int workers, int staleness) {
    this.clocks = new long[workers];
    this.left = new boolean[workers];
    this.staleness = staleness;
    this.atSlowest = workers;
  }

  /// Sets the clock of a worker. An earlier clock has no effect.
  void advance(int worker, long clock) {
    long before = clocks[worker];
    if (clock > before) {
      clocks[worker] = clock;
      if (before == slowest && !left[worker] && --atSlowest == 0) {
        findSlowest();
      }
    }
  }

  long clock(int worker) {
    return clocks[worker];
  }

  /// Excludes a worker, so that no pull waits for it any more.
  void leave(int worker) {
    left[worker] = true;
    findSlowest();
  }

  private void findSlowest() {
    slowest = Long.MAX_VALUE;
    atSlowest = 0;
    for (int i = 0; i < clocks.length; i++) {
      if (!left[i] && clocks[i] <= slowest) {
        atSlowest = clocks[i] == slowest ? atSlowest + 1 : 1;
        slowest = clocks[i];
      }
    }
  }

  /// Returns the workers that have not left and are below this clock.
  List<Integer> below(long clock) {
    List<Integer> workers = new ArrayList<>();
    for (int i = 0; i < clocks.length; i++) {
      if (!left[i] && clocks[i] < clock) {
        workers.add(i);
      }
    }
    return workers;
  }

  boolean hasLeft(int worker) {
    return left[worker];
  }

  /// Returns the clock of the slowest worker that has not left, or the largest number if all have
  /// left.
  long slowest() {
    return slowest;
  }

  /// Returns whether a pull of a worker at this clock may be answered. The answer contains all
  /// pushes of all workers up to clock `clock` - staleness [HCC13 §3].
  boolean lets(long clock) {
    return staleness < 0 || clock - staleness <= slowest();
  }
}
