// SPDX-License-Identifier: Apache-2.0
package io.weft.bench.grpc;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// One number of workers: when is measured, what was, and how it ends. Any thread.
final class TrafficCase {

  private static final int LIMIT_SECONDS = 120;

  private final CountDownLatch workers;
  private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
  private final long begin;
  private final long end;
  private long[] nanos = new long[1 << 12];
  private int counted;

  /// @param warmUpNanos from now until it counts
  TrafficCase(int workers, long warmUpNanos, long windowNanos) {
    this.workers = new CountDownLatch(workers);
    this.begin = System.nanoTime() + warmUpNanos;
    this.end = begin + windowNanos;
  }

  boolean isOver(long now) {
    return now - end >= 0 || failure.get() != null;
  }

  synchronized void record(long from, long to) {
    if (to - begin >= 0 && to - end < 0) {
      if (counted == nanos.length) {
        nanos = Arrays.copyOf(nanos, 2 * counted);
      }
      nanos[counted++] = to - from;
    }
  }

  void ended() {
    workers.countDown();
  }

  /// The first reason counts.
  void failed(String why) {
    failure.compareAndSet(null, why);
  }

  /// Throws `IllegalStateException` if a call failed, or workers have not ended long after the end.
  void await() throws InterruptedException {
    long limit = end + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    boolean over = false;
    while (!over && failure.get() == null && System.nanoTime() - limit < 0) {
      over = workers.await(10, TimeUnit.MILLISECONDS);
    }
    String why = failure.get();
    if (why != null || !over) {
      throw new IllegalStateException(
          why != null ? why : workers.getCount() + " workers have not ended");
    }
  }

  /// `STEPS WINDOW_NANOS P50_NANOS P99_NANOS REQUESTS_PER_STEP`.
  synchronized String words(int requests) {
    long[] sorted = Arrays.copyOf(nanos, counted);
    Arrays.sort(sorted);
    return "%d %d %d %d %d"
        .formatted(counted, end - begin, at(sorted, 50), at(sorted, 99), requests);
  }

  private static long at(long[] sorted, int percent) {
    return sorted.length == 0 ? 0 : sorted[(sorted.length - 1) * percent / 100];
  }
}
