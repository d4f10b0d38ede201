// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.worker;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The handle of an exchange of several collectives. The deadlines of these collectives bound the
/// exchange. Any thread.
public final class WorkerHandle<T> implements Handle<T> {

  private static final Logger LOG = LoggerFactory.getLogger(WorkerHandle.class);

  private final CompletableFuture<T> future = new CompletableFuture<>();
  private final String words;

  /// Creates the handle of an exchange that is not done.
  ///
  /// @param words the exchange and the rank in words, for errors
  public WorkerHandle(String words) {
    this.words = words;
  }

  /// Completes the handle with this result. A second completion has no effect.
  public void complete(T result) {
    future.complete(result);
  }

  /// Fails the handle with this cause.
  public void fail(CommException cause) {
    future.completeExceptionally(cause);
  }

  /// Fails the handle because of a defect or a lack of memory on this rank.
  ///
  /// @param rank this rank's number in the job
  public void fail(Throwable cause, int rank) {
    fail(
        cause instanceof CommException known
            ? known
            : new CommException.Broken(
                words + " failed: " + cause + "; the other ranks' part of it is done",
                rank,
                cause));
  }

  @Override
  public boolean isDone() {
    return future.isDone();
  }

  @Override
  public T await(Duration timeout) throws InterruptedException {
    Objects.requireNonNull(timeout, "timeout");
    try {
      return future.get(ClampedDuration.nanos(timeout), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw failure(e);
    } catch (TimeoutException e) {
      throw new CommException.TimedOut(
          words
              + " is not done after "
              + ClampedDuration.millis(timeout)
              + " ms; it goes on, its tensors stay borrowed; await again",
          List.of());
    }
  }

  @Override
  public T await() throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw failure(e);
    }
  }

  private static CommException failure(ExecutionException e) {
    if (e.getCause() instanceof CommException cause) {
      return cause.thrownByWaiter();
    }
    throw new IllegalStateException("an exchange ends with a CommException", e);
  }

  @Override
  public void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
    Objects.requireNonNull(action, "action");
    var unused =
        future.whenComplete(
            (result, cause) -> {
              try {
                action.accept(result, (CommException) cause);
              } catch (RuntimeException | Error thrown) {
                LOG.error("an action after {} threw", words, thrown);
              }
            });
  }

  @Override
  public CompletableFuture<T> toCompletableFuture() {
    return future.copy();
  }
}
