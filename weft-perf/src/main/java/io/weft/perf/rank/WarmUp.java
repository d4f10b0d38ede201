// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.Communicator;
import java.util.concurrent.TimeUnit;

/// Runs what is timed later until the compilers of all ranks have come to rest. Confined to the
/// rank's main thread.
public final class WarmUp {

  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(3);

  /// Now and then a method is compiled for as long as a program runs.
  private static final long AT_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Communicator communicator;
  private final Batch batch;

  /// What all ranks do together.
  @FunctionalInterface
  public interface Batch {

    /// A number of calls, the same on all ranks.
    void run() throws InterruptedException;
  }

  /// @param batch at least one of which runs
  public WarmUp(Communicator communicator, Batch batch) {
    this.communicator = communicator;
    this.batch = batch;
  }

  /// Until the slowest rank has worked for `nanos`: in turns, with pauses in which the compilers of
  /// all ranks come to rest, until one has gone by in which none of them had anything to do; at
  /// most for `limitNanos`. On few cores a compiler takes its time from what is timed.
  public void run(long nanos, long limitNanos) throws InterruptedException {
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

  /// All ranks run the same number of batches.
  private void turn(long nanos) throws InterruptedException {
    long begin = System.nanoTime();
    boolean more = true;
    while (more) {
      batch.run();
      boolean wanted = System.nanoTime() - begin < nanos;
      more = RankMaximum.largest(communicator, wanted ? 1 : 0) != 0;
    }
  }
}
