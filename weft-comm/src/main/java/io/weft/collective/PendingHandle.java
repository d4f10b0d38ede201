// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import io.weft.Handle;
import io.weft.agent.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The handle of a submitted operation. Completed once, by the thread that turns the lane; awaited
/// by any, which turn the lane themselves while nobody else does.
final class PendingHandle<T> implements Handle<T> {

  /// Upper bound of `await()`: the operation's hard deadline ends it long before.
  private static final Duration FOREVER = Duration.ofDays(365);

  private final Lane lane;
  private final Function<Duration, CommException> onTimeout;
  private final List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> actions =
      new ArrayList<>(1);
  private @Nullable Runnable beforeDone;
  private volatile boolean done;
  private @Nullable T result;
  private @Nullable CommException failure;

  /// `onTimeout` words the soft time-out.
  PendingHandle(Lane lane, Function<Duration, CommException> onTimeout) {
    this.lane = lane;
    this.onTimeout = onTimeout;
  }

  /// Runs once, before anyone can see that the operation is done. Set before submission.
  void beforeDone(Runnable action) {
    beforeDone = action;
  }

  void complete(@Nullable T value, @Nullable CommException error) {
    List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> due;
    synchronized (this) {
      if (done) {
        return;
      }
      if (beforeDone != null) {
        beforeDone.run();
      }
      result = value;
      failure = error;
      done = true; // volatile: releases result and failure to isDone
      due = List.copyOf(actions);
      notifyAll();
    }
    for (var action : due) {
      action.accept(value, error);
    }
  }

  @Override
  public boolean isDone() {
    return done;
  }

  @Override
  public T await() throws InterruptedException {
    return await(FOREVER);
  }

  @Override
  public T await(Duration timeout) throws InterruptedException {
    if (lane.isOwnThread()) {
      throw new IllegalStateException("the lane's own thread must not wait; use whenDone");
    }
    long start = lane.nanos();
    long end = start + Math.min(timeout.toNanos(), FOREVER.toNanos());
    while (!done) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (lane.nanos() - end >= 0) {
        throw onTimeout.apply(timeout);
      }
      if (!lane.drive(this::isDone, Math.min(end, lane.nanos() + 100_000_000L)) && !done) {
        synchronized (this) {
          if (!done) {
            wait(1);
          }
        }
      }
    }
    CommException error = failure;
    if (error != null) {
      throw error;
    }
    return value();
  }

  @SuppressWarnings("NullAway") // null only where T is Void
  private T value() {
    return result;
  }

  @Override
  public void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
    synchronized (this) {
      if (!done) {
        actions.add(action);
        return;
      }
    }
    action.accept(result, failure);
  }

  @Override
  public CompletableFuture<T> toCompletableFuture() {
    CompletableFuture<T> future = new CompletableFuture<>();
    whenDone(
        (value, error) -> {
          if (error != null) {
            future.completeExceptionally(error);
          } else {
            future.complete(value);
          }
        });
    return future;
  }
}
