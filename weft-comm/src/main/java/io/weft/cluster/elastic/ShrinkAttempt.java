// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.transport.limit.Span;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One call of `shrink`: handed to the progress thread by the user's thread, which waits for its
/// end.
final class ShrinkAttempt {

  private static final long TURN_NANOS = 100_000_000L;

  private final Duration limit;
  private final long deadline;
  private volatile boolean begun;
  private volatile boolean given;
  private volatile boolean done;
  private @Nullable CommException failure;

  ShrinkAttempt(Duration limit, long nowNanos) {
    this.limit = limit;
    this.deadline = nowNanos + Span.nanos(limit);
  }

  Duration limit() {
    return limit;
  }

  /// Whether the progress thread has something to do about it: begin it, or forget it.
  boolean waitsForRunner() {
    return !begun || given;
  }

  /// The progress thread takes it; returns false if it has done so before.
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

  /// On the progress thread; null = this rank is in the next epoch.
  void end(@Nullable CommException why) {
    failure = why;
    done = true; // volatile: releases the failure to the waiting thread
    synchronized (this) {
      notifyAll();
    }
  }

  /// On the user's thread. Throws what `end` got.
  void await(AgentRunner runner) throws InterruptedException {
    while (!done) {
      if (Thread.interrupted()) {
        given = true;
        runner.commandQueued();
        throw new InterruptedException();
      }
      if (runner.isOver() && !done) {
        throw new CommException.Aborted(
            "the agreement of the survivors did not come about: this rank has left the job", null);
      }
      if (!runner.drive(() -> done, runner.nanos() + TURN_NANOS) && !done) {
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
