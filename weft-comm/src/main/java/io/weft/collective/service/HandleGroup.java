// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One handle for operations that were submitted together. It completes when all have ended,
/// because they borrow their tensors until then. Any thread.
final class HandleGroup<T> implements Handle<List<T>> {

  private static final Logger LOG = LoggerFactory.getLogger(HandleGroup.class);

  /// Upper bound of `await()`. The operations' hard deadlines end them much earlier.
  private static final Duration FOREVER = Duration.ofDays(365);

  private final List<PendingHandle<T>> parts;
  private final AgentRunner runner;
  private final @Nullable CommException refusal;

  /// @param refusal the cause for which the remaining operations were not submitted, or null
  HandleGroup(List<PendingHandle<T>> parts, AgentRunner runner, @Nullable CommException refusal) {
    this.parts = List.copyOf(parts);
    this.runner = runner;
    this.refusal = refusal;
  }

  @Override
  public boolean isDone() {
    return parts.stream().allMatch(PendingHandle::isDone);
  }

  @Override
  public List<T> await() throws InterruptedException {
    return await(FOREVER);
  }

  @Override
  public List<T> await(Duration timeout) throws InterruptedException {
    long end =
        runner.nanos() + Math.min(ClampedDuration.nanos(timeout), ClampedDuration.nanos(FOREVER));
    for (PendingHandle<T> part : parts) {
      try {
        var unused = part.awaitUntil(end, timeout);
      } catch (CommException thrown) {
        if (!part.isDone()) {
          throw thrown; // the soft timeout of the tensor that is not done
        }
      }
    }
    CommException cause = failure();
    if (cause != null) {
      throw cause.thrownByWaiter();
    }
    return results();
  }

  /// Returns the first failure, after all operations have ended.
  private @Nullable CommException failure() {
    for (PendingHandle<T> part : parts) {
      CommException cause = part.failure();
      if (cause != null) {
        return cause;
      }
    }
    return refusal;
  }

  /// Returns the results, after all operations have succeeded.
  private List<T> results() {
    List<T> results = new ArrayList<>(parts.size());
    for (PendingHandle<T> part : parts) {
      results.add(part.value());
    }
    return List.copyOf(results);
  }

  @Override
  public void whenDone(
      BiConsumer<? super @Nullable List<T>, ? super @Nullable CommException> action) {
    Objects.requireNonNull(action, "action");
    AtomicInteger left = new AtomicInteger(parts.size() + 1);
    Runnable countdown =
        () -> {
          if (left.decrementAndGet() == 0) {
            tell(action);
          }
        };
    for (PendingHandle<T> part : parts) {
      part.whenDone((result, cause) -> countdown.run());
    }
    countdown.run();
  }

  /// Runs an action. An exception, which it must not throw, is only logged.
  private void tell(BiConsumer<? super @Nullable List<T>, ? super @Nullable CommException> action) {
    CommException cause = failure();
    try {
      action.accept(cause == null ? results() : null, cause);
    } catch (RuntimeException | Error thrown) {
      LOG.error("the callback of a group of operations threw, which it must not", thrown);
    }
  }

  @Override
  public CompletableFuture<List<T>> toCompletableFuture() {
    CompletableFuture<List<T>> future = new CompletableFuture<>();
    whenDone(
        (results, cause) -> {
          if (cause != null) {
            future.completeExceptionally(cause);
          } else {
            future.complete(results);
          }
        });
    return future;
  }
}
