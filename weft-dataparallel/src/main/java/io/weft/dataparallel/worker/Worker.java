// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.worker;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// One thread that computes what comes between two collectives of an exchange. It starts with the
/// first job and ends when it has had none for a while, so that nobody need close it. Thread-safe.
public final class Worker {

  private static final long IDLE_SECONDS = 10;

  /// More than operations can be under way on a communicator, and each has one job at most.
  private static final int MOST_JOBS = 1 << 16;

  private final ThreadPoolExecutor thread;

  /// A worker whose thread has this name.
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

  /// Calls `job` with result or failure of the operation, on the worker's thread, when it is done.
  public <T> void after(Handle<T> operation, BiConsumer<@Nullable T, @Nullable CommException> job) {
    operation.whenDone((result, failure) -> run(() -> job.accept(result, failure)));
  }

  /// Runs `job` on the worker's thread, soon.
  public void run(Runnable job) {
    thread.execute(job);
  }
}
