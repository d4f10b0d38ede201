// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import java.util.concurrent.TimeUnit;

/// Runs the code that is timed later until the compilers of all ranks are idle. Confined to the
/// rank's main thread.
public final class WarmUp {

  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(3);

  /// A tolerance, because the JVM compiles a method occasionally for as long as a program runs.
  private static final long AT_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final RankGroup ranks;
  private final Batch batch;

  /// The work that all ranks do together.
  @FunctionalInterface
  public interface Batch {

    /// Runs a number of calls, the same number on all ranks.
    void run() throws InterruptedException;
  }

  /// @param batch the work, which runs at least once
  public WarmUp(RankGroup ranks, Batch batch) {
    this.ranks = ranks;
    this.batch = batch;
  }

  /// Runs batches for at most `limitNanos`, and until the slowest rank has worked for `nanos`. Each
  /// round ends with a pause, of at most `limitNanos`, in which the compilers of all ranks finish,
  /// because on few cores a compiler takes processor time from the timed code. The warm-up ends
  /// after a round in which no rank compiled.
  public void run(long nanos, long limitNanos) throws InterruptedException {
    var compiler = new CompilerWatch();
    long begin = System.nanoTime();
    boolean more = true;
    while (more) {
      long before = compiler.nanos();
      turn(Math.min(nanos, TURN_NANOS));
      compiler.awaitRest(Math.min(LONGEST_PAUSE_NANOS, limitNanos));
      long elapsed = System.nanoTime() - begin;
      boolean compiled = compiler.nanos() - before > AT_REST_NANOS;
      boolean wanted = elapsed < nanos || (elapsed < limitNanos && compiled);
      more = ranks.largest(wanted ? 1 : 0) != 0;
    }
  }

  /// Runs the same number of batches on all ranks.
  private void turn(long nanos) throws InterruptedException {
    long begin = System.nanoTime();
    boolean more = true;
    while (more) {
      batch.run();
      boolean wanted = System.nanoTime() - begin < nanos;
      more = ranks.largest(wanted ? 1 : 0) != 0;
    }
  }
}
