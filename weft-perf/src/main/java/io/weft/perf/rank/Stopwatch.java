// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/// Runs iterations of one `Work` and times the calls. Confined to the rank's main thread.
final class Stopwatch {

  private static final CollectiveOptions MEETING = CollectiveOptions.named("perf/meet");
  private static final int SHORTEST_WARM_UP = 3;
  private static final int WARM_UP_BATCH = 16;
  private static final long LARGE_BYTES = 1 << 20;
  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(3);

  /// Now and then a method is compiled for as long as a program runs.
  private static final long AT_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

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

  /// Iterates until the slowest rank has worked for `nanos`, and at least three times, in batches
  /// that run the code that is timed later. All ranks do the same number.
  private void turn(long nanos) throws InterruptedException {
    int batch = bytes > LARGE_BYTES ? SHORTEST_WARM_UP : WARM_UP_BATCH;
    long begin = System.nanoTime();
    boolean more = true;
    while (more) {
      var unused = measure(batch);
      boolean wanted = System.nanoTime() - begin < nanos;
      more = RankMaximum.largest(communicator, wanted ? 1 : 0) != 0;
    }
  }

  /// Iterates until the slowest rank has worked for `nanos`: in turns, with pauses in which the
  /// compilers of all ranks come to rest, until one has gone by in which none of them had anything
  /// to do; at most for `limitNanos`. On few cores a compiler takes its time from what is timed.
  void warmUp(long nanos, long limitNanos) throws InterruptedException {
    var compiler = new CompilerWatch();
    long begin = System.nanoTime();
    boolean more = true;
    while (more) {
      long before = compiler.nanos();
      turn(Math.min(nanos, TURN_NANOS));
      compiler.awaitRest(LONGEST_PAUSE_NANOS);
      long elapsed = System.nanoTime() - begin;
      boolean compiled = compiler.nanos() - before > AT_REST_NANOS;
      boolean wanted = elapsed < nanos || (elapsed < limitNanos && compiled);
      more = RankMaximum.largest(communicator, wanted ? 1 : 0) != 0;
    }
  }

  /// Times `iterations` calls; each takes as long as its slowest rank. `right` speaks of this rank
  /// alone.
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
    RankMaximum.largest(communicator, nanos);
    if (work instanceof Work.Barrier) {
      right &= metEachTime(lastEntry, exits);
    }
    return new IterationTimes(nanos, RankMaximum.largest(communicator, right ? 0 : 1) == 0, right);
  }

  /// Nobody may leave a barrier before everybody has entered it. The ranks of one host read the
  /// same monotonic clock.
  private boolean metEachTime(long[] lastEntry, long[] exits) throws InterruptedException {
    RankMaximum.largest(communicator, lastEntry);
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
  record IterationTimes(long[] nanos, boolean allRight, boolean rightHere) {

    /// One after the other.
    static IterationTimes of(List<IterationTimes> parts) {
      return new IterationTimes(
          parts.stream().flatMapToLong(part -> LongStream.of(part.nanos())).toArray(),
          parts.stream().allMatch(IterationTimes::allRight),
          parts.stream().allMatch(IterationTimes::rightHere));
    }
  }
}
