// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.agent.Ticker;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// A moment after which waiting ends. Immutable.
record Deadline(long endNanos, Duration total) {

  static Deadline after(Duration total) {
    return new Deadline(Ticker.SYSTEM.nanos() + Span.nanos(total), total);
  }

  /// 0 when it has passed.
  long remainingNanos() {
    return Math.max(0, endNanos - Ticker.SYSTEM.nanos());
  }

  boolean passed() {
    return remainingNanos() == 0;
  }

  /// At least 1, so that it can be given to what takes 0 as "for ever"; at most `mostMillis`.
  int remainingMillis(int mostMillis) {
    return Math.clamp(remainingNanos() / 1_000_000, 1, mostMillis);
  }

  /// Waits a little, not beyond the deadline. Throws when the thread is interrupted.
  void pause(Duration little) throws InterruptedException {
    LockSupport.parkNanos(Math.min(Span.nanos(little), remainingNanos()));
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted while waiting for the job's store");
    }
  }

  @Override
  public String toString() {
    return Span.millis(total) / 1000.0 + " s";
  }
}
