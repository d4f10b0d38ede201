// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.util.ArrayList;
import java.util.List;

/// The clocks of the workers of one table on one shard, and which pulls they let pass. Pure: no
/// thread, no time. Confined to the shard's thread.
final class Clocks {

  private final long[] clocks;
  private final boolean[] left;
  private final int staleness;

  /// Of those that are there, and how many are at it.
  private long slowest;

  private int atSlowest;

  /// @param staleness as `Consistency` has it; 1 or more, or asynchronous
  Clocks(int workers, int staleness) {
    this.clocks = new long[workers];
    this.left = new boolean[workers];
    this.staleness = staleness;
    this.atSlowest = workers;
  }

  /// A worker says that it is at this clock; a clock that it has passed already has no effect.
  void advance(int worker, long clock) {
    long before = clocks[worker];
    if (clock > before) {
      clocks[worker] = clock;
      if (before == slowest && !left[worker] && --atSlowest == 0) {
        findSlowest();
      }
    }
  }

  /// The clock of a worker.
  long clock(int worker) {
    return clocks[worker];
  }

  /// Nobody waits for this worker any more.
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

  /// Those that are there and have not come to this clock.
  List<Integer> below(long clock) {
    List<Integer> workers = new ArrayList<>();
    for (int i = 0; i < clocks.length; i++) {
      if (!left[i] && clocks[i] < clock) {
        workers.add(i);
      }
    }
    return workers;
  }

  /// Whether it is gone.
  boolean hasLeft(int worker) {
    return left[worker];
  }

  /// The clock of the slowest worker that is there; the largest number if none is.
  long slowest() {
    return slowest;
  }

  /// Whether a pull of a worker at this clock may be answered: it sees all pushes of clocks up to
  /// `clock` - staleness of all workers [HCC13 §3].
  boolean lets(long clock) {
    return staleness < 0 || clock - staleness <= slowest();
  }
}
