// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The concurrent bodies of all ranks of a local job, each on a separate thread. They run until all
/// have ended, or until one has thrown and the others have had time to report their failures.
///
/// @param <T> the result of a body
final class Bodies<T> {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  /// The time for which the others may still run after the first failure.
  private static final Duration LAST_WORDS = Duration.ofSeconds(1);

  /// The time that they may then take to end after an interrupt.
  private static final Duration ENDING = Duration.ofSeconds(20);

  private final BlockingQueue<Ended<T>> ended = new LinkedBlockingQueue<>();
  private final List<Future<?>> futures = new ArrayList<>();
  private final List<@Nullable T> results;
  private @Nullable Ended<T> first;
  private int left;

  /// The end of one rank's body.
  private record Ended<T>(int rank, @Nullable T result, @Nullable Throwable failure) {}

  /// Ends the rank whose body failed first, so that no rank waits for it.
  @FunctionalInterface
  interface Abandon {
    void rank(int rank, Throwable cause);
  }

  /// Starts the bodies, by rank.
  Bodies(ExecutorService threads, List<Callable<T>> bodies) {
    left = bodies.size();
    results = new ArrayList<>(Collections.nCopies(left, null));
    for (int rank = 0; rank < bodies.size(); rank++) {
      int at = rank;
      Callable<T> body = bodies.get(rank);
      futures.add(threads.submit(() -> ended.add(end(at, body))));
    }
  }

  private static <T> Ended<T> end(int rank, Callable<T> body) {
    try {
      return new Ended<>(rank, body.call(), null);
    } catch (Exception | Error thrown) { // a failed assertion is an Error
      return new Ended<>(rank, null, thrown);
    }
  }

  /// Returns the results, by rank. Throws the first failure; the failures of the others are
  /// suppressed in it.
  @SuppressWarnings("NullAway") // a result is null only where T may be
  List<T> results(Abandon abandon) {
    try {
      await(LIMIT);
      Ended<T> failed = first;
      if (failed != null && failed.failure() != null) {
        await(LAST_WORDS);
        endOthers(failed.rank(), failed.failure(), abandon);
        throw unchecked(failed.failure());
      }
    } catch (InterruptedException interrupted) {
      futures.forEach(future -> future.cancel(true));
      throw new IllegalStateException("interrupted while ranks run", interrupted);
    }
    if (left > 0) {
      futures.forEach(future -> future.cancel(true));
      throw new IllegalStateException("a rank did not end within " + LIMIT);
    }
    return Collections.unmodifiableList(new ArrayList<>(results));
  }

  private void endOthers(int failed, Throwable cause, Abandon abandon) throws InterruptedException {
    if (left == 0) {
      return;
    }
    try {
      abandon.rank(failed, cause);
    } catch (RuntimeException | Error thrown) {
      suppress(cause, thrown);
    }
    futures.forEach(future -> future.cancel(true));
    await(ENDING);
    if (left > 0) {
      suppress(cause, new IllegalStateException(left + " other ranks still run"));
    }
  }

  /// Waits until all have ended or `limit` has passed, or until one fails if none had failed
  /// before.
  private void await(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + ClampedDuration.nanos(limit);
    boolean untilFailure = first == null;
    while (left > 0 && !(untilFailure && first != null)) {
      Ended<T> next = ended.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (next == null) {
        return;
      }
      left--;
      results.set(next.rank(), next.result());
      if (next.failure() != null && first == null) {
        first = next;
      } else if (next.failure() != null && first != null && first.failure() != null) {
        suppress(first.failure(), next.failure());
      }
    }
  }

  private static void suppress(Throwable in, Throwable other) {
    if (in != other) {
      in.addSuppressed(other);
    }
  }

  private static RuntimeException unchecked(Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    return failure instanceof RuntimeException unchecked
        ? unchecked
        : new IllegalStateException(failure);
  }
}
