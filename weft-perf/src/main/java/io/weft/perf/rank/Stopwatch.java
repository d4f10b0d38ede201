// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import java.util.List;
import java.util.stream.LongStream;

/// Runs and times iterations of one `TimedCall`. Confined to the rank's main thread.
final class Stopwatch {

  private static final int SHORTEST_WARM_UP = 3;
  private static final int WARM_UP_BATCH = 16;
  private static final long LARGE_BYTES = 1 << 20;

  private final RankGroup ranks;
  private final TimedCall work;
  private final long bytes;
  private long entered;
  private long left;

  Stopwatch(RankGroup ranks, TimedCall work, long bytes) {
    this.ranks = ranks;
    this.work = work;
    this.bytes = bytes;
  }

  /// Warms up as `WarmUp` does, in batches of the code that is timed later.
  void warmUp(long nanos, long limitNanos) throws InterruptedException {
    int batch = bytes > LARGE_BYTES ? SHORTEST_WARM_UP : WARM_UP_BATCH;
    new WarmUp(
            ranks,
            () -> {
              var unused = measure(batch);
            })
        .run(nanos, limitNanos);
  }

  /// Times `iterations` calls. The time of a call is that of its slowest rank. In the result,
  /// `rightHere` covers this rank only.
  IterationTimes measure(int iterations) throws InterruptedException {
    long[] nanos = new long[iterations];
    long[] lastEntry = new long[iterations];
    long[] exits = new long[iterations];
    boolean right = true;
    for (int t = 0; t < iterations; t++) {
      right &= iterate(t);
      nanos[t] = left - entered;
      lastEntry[t] = entered;
      exits[t] = left;
    }
    ranks.largest(nanos);
    if (work.isBarrier()) {
      right &= metEachTime(lastEntry, exits);
    }
    return new IterationTimes(nanos, ranks.largest(right ? 0 : 1) == 0, right);
  }

  /// Returns whether no rank left a barrier before all ranks had entered it. The ranks of one host
  /// read the same monotonic clock.
  private boolean metEachTime(long[] lastEntry, long[] exits) throws InterruptedException {
    ranks.largest(lastEntry);
    boolean met = true;
    for (int t = 0; t < exits.length; t++) {
      met &= lastEntry[t] <= exits[t];
    }
    return met;
  }

  private boolean iterate(long t) throws InterruptedException {
    work.fill(t);
    ranks.barrier();
    entered = System.nanoTime();
    work.call();
    left = System.nanoTime();
    return work.right(t);
  }

  /// The times of one case.
  ///
  /// @param nanos time of each iteration on its slowest rank
  /// @param allRight true if every result of every rank was right
  /// @param rightHere true if every result of this rank was right
  record IterationTimes(long[] nanos, boolean allRight, boolean rightHere) {

    /// Concatenates the times of the parts of one case.
    static IterationTimes of(List<IterationTimes> parts) {
      return new IterationTimes(
          parts.stream().flatMapToLong(part -> LongStream.of(part.nanos())).toArray(),
          parts.stream().allMatch(IterationTimes::allRight),
          parts.stream().allMatch(IterationTimes::rightHere));
    }
  }
}
