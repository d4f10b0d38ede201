// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.rank;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import java.util.function.LongPredicate;

/// Runs iterations of one `Work` and times the calls. Confined to the rank's main thread.
final class Stopwatch {

  private static final CollectiveOptions MEETING = CollectiveOptions.named("perf/meet");
  private static final int SHORTEST_WARM_UP = 3;
  private static final int WARM_UP_BATCH = 16;
  private static final long LARGE_BYTES = 1 << 20;

  private final Communicator communicator;
  private final Work work;
  private final long bytes;
  private long entered;
  private long left;

  Stopwatch(Communicator communicator, Work work, long bytes) {
    this.communicator = communicator;
    this.work = work;
    this.bytes = bytes;
  }

  /// Iterates untimed until the slowest rank has worked for `nanos`, and at least three times. All
  /// ranks do the same number.
  void warmUp(long nanos) throws InterruptedException {
    warmUp(elapsed -> elapsed < nanos);
  }

  /// The same, but goes on until the JVM of every rank has compiled nothing for a while, at most
  /// for `limitNanos`: on few cores the compiler takes its time from what is timed.
  void warmUpUntilCompiled(long nanos, long limitNanos) throws InterruptedException {
    var compiler = new CompilerWatch();
    warmUp(elapsed -> elapsed < nanos || (elapsed < limitNanos && !compiler.rests()));
  }

  private void warmUp(LongPredicate goesOn) throws InterruptedException {
    long begin = System.nanoTime();
    boolean more = true;
    for (long t = 0; more; ) {
      int batch = t < SHORTEST_WARM_UP ? SHORTEST_WARM_UP : bytes > LARGE_BYTES ? 1 : WARM_UP_BATCH;
      for (long last = t + batch; t < last; t++) {
        iterate(t);
      }
      boolean wanted = goesOn.test(System.nanoTime() - begin);
      more = Agreement.largest(communicator, wanted ? 1 : 0) != 0;
    }
  }

  /// Times `iterations` calls; each takes as long as its slowest rank. `right` speaks of this rank
  /// alone.
  Times measure(int iterations) throws InterruptedException {
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
    Agreement.largest(communicator, nanos);
    if (work instanceof BarrierWork) {
      right &= metEachTime(lastEntry, exits);
    }
    return new Times(nanos, Agreement.largest(communicator, right ? 0 : 1) == 0, right);
  }

  /// Nobody may leave a barrier before everybody has entered it. The ranks of one host read the
  /// same monotonic clock.
  private boolean metEachTime(long[] lastEntry, long[] exits) throws InterruptedException {
    Agreement.largest(communicator, lastEntry);
    boolean met = true;
    for (int t = 0; t < exits.length; t++) {
      met &= lastEntry[t] <= exits[t];
    }
    return met;
  }

  private boolean iterate(long t) throws InterruptedException {
    work.fill(t);
    communicator.barrier(MEETING).await();
    entered = System.nanoTime();
    work.call();
    left = System.nanoTime();
    return work.right(t);
  }

  /// What one case took.
  ///
  /// @param nanos of each iteration, the slowest rank's
  /// @param allRight whether every result of every rank was right
  /// @param rightHere whether this rank's were
  record Times(long[] nanos, boolean allRight, boolean rightHere) {}
}
