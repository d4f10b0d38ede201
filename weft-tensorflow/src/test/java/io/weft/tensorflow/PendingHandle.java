// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A handle that is backed by a future.
final class PendingHandle<T> implements Handle<T> {

  private final CompletableFuture<T> future = new CompletableFuture<>();

  void complete(@Nullable T result, @Nullable CommException failure) {
    if (failure == null) {
      future.complete(result);
    } else {
      future.completeExceptionally(failure);
    }
  }

  @Override
  public boolean isDone() {
    return future.isDone();
  }

  @Override
  public T await(Duration timeout) throws InterruptedException {
    try {
      return future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw (CommException) e.getCause();
    } catch (TimeoutException e) {
      throw new CommException.TimedOut("waited " + timeout, List.of());
    }
  }

  @Override
  public T await() throws InterruptedException {
    return await(Duration.ofSeconds(20));
  }

  @Override
  public void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
    future.whenComplete((result, failure) -> action.accept(result, (CommException) failure));
  }

  @Override
  public CompletableFuture<T> toCompletableFuture() {
    return future.copy();
  }
}
