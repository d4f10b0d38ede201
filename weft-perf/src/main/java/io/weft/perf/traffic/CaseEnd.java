// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The end of a case: all workers have ended, or an error has occurred. Safe for use by any thread.
final class CaseEnd {

  private final CountDownLatch workers;
  private final AtomicReference<@Nullable String> wrong = new AtomicReference<>();

  CaseEnd(int workers) {
    this.workers = new CountDownLatch(workers);
  }

  /// Reports that a worker has ended.
  void ended() {
    workers.countDown();
  }

  /// Reports an error. The first one counts.
  void wrong(String what) {
    wrong.compareAndSet(null, what);
  }

  boolean isWrong() {
    return wrong.get() != null;
  }

  /// Waits for all workers. Throws `IllegalStateException` after an error, or after `limit`.
  void await(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + ClampedDuration.nanos(limit);
    boolean over = false;
    while (!over && !isWrong() && System.nanoTime() - end < 0) {
      over = workers.await(10, TimeUnit.MILLISECONDS);
    }
    String what = wrong.get();
    if (what != null || !over) {
      throw new IllegalStateException(
          what != null ? what : workers.getCount() + " workers have not ended within " + limit);
    }
  }
}
