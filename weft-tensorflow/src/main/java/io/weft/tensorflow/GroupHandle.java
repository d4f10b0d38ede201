// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The handle of all operations of one op. It completes when all have ended, because they borrow
/// their tensors until then, and fails with the first failure. Any thread.
final class GroupHandle<T> implements Handle<List<T>> {

  private final CompletableFuture<List<T>> all = new CompletableFuture<>();
  private final List<@Nullable T> results;
  private final Consumer<? super T> discard;

  // Guarded by this; read without the lock once all operations have ended.
  private @Nullable CommException failure;
  private int left;

  /// @param parts at least one
  /// @param refusal the reason why further operations were not submitted; null if all were
  ///   submitted
  /// @param discard receives the results of successful operations when the group fails
  GroupHandle(List<Handle<T>> parts, @Nullable CommException refusal, Consumer<? super T> discard) {
    this.failure = refusal;
    this.discard = discard;
    left = parts.size();
    results = new ArrayList<>(Collections.nCopies(left, null));
    for (int i = 0; i < parts.size(); i++) {
      int index = i;
      parts.get(i).whenDone((result, cause) -> ended(index, result, cause));
    }
  }

  private void ended(int index, @Nullable T result, @Nullable CommException cause) {
    if (isLast(index, result, cause)) {
      CommException failed = failure;
      if (failed != null) {
        for (T there : results) {
          if (there != null) {
            discard.accept(there);
          }
        }
        all.completeExceptionally(failed);
      } else {
        all.complete(List.copyOf(results));
      }
    }
  }

  private synchronized boolean isLast(
      int index, @Nullable T result, @Nullable CommException cause) {
    results.set(index, result);
    if (failure == null) {
      failure = cause;
    }
    return --left == 0;
  }

  @Override
  public boolean isDone() {
    return all.isDone();
  }

  @Override
  public List<T> await() throws InterruptedException {
    return await(Duration.ofDays(365)); // the operations' deadlines end the wait
  }

  @Override
  public List<T> await(Duration timeout) throws InterruptedException {
    try {
      return all.get(ClampedDuration.nanos(timeout), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CommException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new CommException.TimedOut("waited " + timeout + " for a group", List.of());
    }
  }

  @Override
  public void whenDone(
      BiConsumer<? super @Nullable List<T>, ? super @Nullable CommException> action) {
    var unused = all.whenComplete((done, cause) -> action.accept(done, (CommException) cause));
  }

  @Override
  public CompletableFuture<List<T>> toCompletableFuture() {
    return all.copy();
  }
}
