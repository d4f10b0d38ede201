// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.agent.Ticker;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// The moment at which a wait ends. Immutable.
record Deadline(long endNanos, Duration total) {

  static Deadline after(Duration total) {
    return new Deadline(Ticker.SYSTEM.nanos() + ClampedDuration.nanos(total), total);
  }

  /// Nanoseconds left, 0 after the deadline.
  long remainingNanos() {
    return Math.max(0, endNanos - Ticker.SYSTEM.nanos());
  }

  boolean passed() {
    return remainingNanos() == 0;
  }

  /// Milliseconds left, at least 1, so that the value can be passed to calls that take 0 as
  /// "forever", and at most `mostMillis`.
  int remainingMillis(int mostMillis) {
    return Math.clamp(remainingNanos() / 1_000_000, 1, mostMillis);
  }

  /// Waits for `little`, but not beyond the deadline. Throws if the thread is interrupted.
  void pause(Duration little) throws InterruptedException {
    LockSupport.parkNanos(Math.min(ClampedDuration.nanos(little), remainingNanos()));
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted while waiting for the job's store");
    }
  }

  @Override
  public String toString() {
    return ClampedDuration.millis(total) / 1000.0 + " s";
  }
}
