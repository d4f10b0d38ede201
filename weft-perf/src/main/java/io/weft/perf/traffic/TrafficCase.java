// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.perf.report.RankPrinter;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/// One number of workers: the time in which steps count, the timer of the workers' computations,
/// and the end, when all workers have ended or an error has occurred. Safe for use by any thread.
final class TrafficCase implements AutoCloseable {
  /// The time in which a slow worker may end after the measuring time.
  private static final Duration ENDING = Duration.ofMinutes(2);

  private static final int DIGITS = 3;

  private final int workers;
  private final Duration limit;
  private final long begin;
  private final long end;
  private final CountDownLatch left;
  private final AtomicReference<@Nullable String> wrong = new AtomicReference<>();
  private final Histogram nanos = new Histogram(DIGITS);
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("weft-traffic-compute").factory());
  private long all;

  /// Creates a case whose measuring time begins `warmUp` from now.
  TrafficCase(int workers, Duration warmUp, Duration length) {
    this.workers = workers;
    this.limit = warmUp.plus(length).plus(ENDING);
    begin = System.nanoTime() + ClampedDuration.nanos(warmUp);
    end = begin + ClampedDuration.nanos(length);
    left = new CountDownLatch(workers);
  }

  int workers() {
    return workers;
  }

  /// Returns the limit of the whole case.
  Duration limit() {
    return limit;
  }

  /// Runs `then` on the timer's thread after `delay`.
  void after(Duration delay, Runnable then) {
    var unused = timer.schedule(then, ClampedDuration.nanos(delay), TimeUnit.NANOSECONDS);
  }

  /// Records a step from `from` to `to`, which counts if it ends within the measuring time.
  synchronized void record(long from, long to) {
    all++;
    if (to - begin >= 0 && to - end < 0) {
      nanos.recordValue(to - from);
    }
  }

  /// Returns true if a worker that ends a step at `now` makes no more steps.
  boolean isOver(long now) {
    return now - end >= 0 || isWrong();
  }

  /// Reports that a worker has ended.
  void ended() {
    left.countDown();
  }

  /// Reports an error. The first one counts.
  void wrong(String what) {
    wrong.compareAndSet(null, what);
  }

  boolean isWrong() {
    return wrong.get() != null;
  }

  /// Waits for all workers. Throws `IllegalStateException` after an error, or after the limit.
  void await() throws InterruptedException {
    long last = System.nanoTime() + ClampedDuration.nanos(limit);
    boolean over = false;
    while (!over && !isWrong() && System.nanoTime() - last < 0) {
      over = left.await(10, TimeUnit.MILLISECONDS);
    }
    String what = wrong.get();
    if (what != null || !over) {
      throw new IllegalStateException(
          what != null ? what : left.getCount() + " workers have not ended within " + limit);
    }
  }

  /// Prints the figures of the case.
  ///
  /// @param requests number of requests of all steps, including those outside the measuring time,
  ///   or -1 for one request for each of the `tensors`
  synchronized void print(RankPrinter printer, long requests, int tensors) {
    printer.times(workers, true);
    printer.figure("stepsPerSecond", nanos.getTotalCount() * 1e9 / (end - begin));
    printer.figure("p50Millis", nanos.getValueAtPercentile(50) / 1e6);
    printer.figure("p99Millis", nanos.getValueAtPercentile(99) / 1e6);
    printer.figure(
        "requestsPerStep",
        requests < 0 ? tensors : Math.rint(1e3 * requests / Math.max(1, all)) / 1e3);
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
