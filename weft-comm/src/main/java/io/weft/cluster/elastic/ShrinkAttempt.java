// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One call of `shrink`, which the user's thread hands to the progress thread and whose end it
/// awaits.
final class ShrinkAttempt {

  private static final long DRIVE_NANOS = 100_000_000L;

  private final Duration limit;
  private final long deadline;
  private volatile boolean begun;
  private volatile boolean given;
  private volatile boolean done;
  private @Nullable CommException failure;

  ShrinkAttempt(Duration limit, long nowNanos) {
    this.limit = limit;
    this.deadline = nowNanos + ClampedDuration.nanos(limit);
  }

  Duration limit() {
    return limit;
  }

  /// Returns whether the progress thread must act on this attempt, to begin it or to drop it.
  boolean waitsForRunner() {
    return !begun || given;
  }

  /// Begins the attempt on the progress thread. Returns false if it has begun before.
  boolean begin() {
    if (begun) {
      return false;
    }
    begun = true;
    return true;
  }

  boolean begun() {
    return begun;
  }

  boolean overdue(long nowNanos) {
    return given || nowNanos - deadline >= 0;
  }

  /// Ends the attempt, on the progress thread; null = this rank is in the next epoch.
  void end(@Nullable CommException why) {
    failure = why;
    done = true; // volatile: releases the failure to the waiting thread
    synchronized (this) {
      notifyAll();
    }
  }

  /// Waits for the end, on the user's thread. Throws the failure passed to `end`.
  void await(AgentRunner runner) throws InterruptedException {
    while (!done) {
      if (Thread.interrupted()) {
        given = true;
        runner.commandQueued();
        throw new InterruptedException();
      }
      if (runner.isEnded() && !done) {
        throw new CommException.Aborted(
            "the survivors reached no agreement: this rank has left the job", null);
      }
      if (!runner.drive(() -> done, runner.nanos() + DRIVE_NANOS) && !done) {
        synchronized (this) {
          if (!done) {
            wait(1);
          }
        }
      }
    }
    CommException why = failure;
    if (why != null) {
      throw why;
    }
  }
}
