// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.worker;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A thread for the computations between the collectives of an exchange. The thread starts with the
/// first job and ends after an idle time, so that a worker need not be closed. Thread-safe.
public final class Worker {

  private static final long IDLE_SECONDS = 10;

  /// The maximum number of queued jobs: more than the operations that can be in flight on a
  /// communicator, each of which has at most one job.
  private static final int MOST_JOBS = 1 << 16;

  private final ThreadPoolExecutor thread;

  /// Creates a worker whose thread has this name.
  public Worker(String name) {
    thread =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_JOBS),
            job -> Thread.ofPlatform().daemon().name(name).unstarted(job));
    thread.allowCoreThreadTimeOut(true);
  }

  /// Calls `job` on the worker's thread with the result or failure of the operation, when it is
  /// done.
  public <T> void after(Handle<T> operation, BiConsumer<@Nullable T, @Nullable CommException> job) {
    operation.whenDone((result, failure) -> run(() -> job.accept(result, failure)));
  }

  /// Queues `job` for the worker's thread.
  public void run(Runnable job) {
    thread.execute(job);
  }
}
