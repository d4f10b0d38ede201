// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The handle of an operation that the layer's thread completes. Any thread.
final class ReductionHandle<T> implements Handle<T> {

  private static final Logger LOG = LoggerFactory.getLogger(ReductionHandle.class);

  private final String words;
  private final LayerSpans spans;
  private final CompletableFuture<T> future = new CompletableFuture<>();

  /// @param words the operation in words, for messages
  /// @param spans the recorder of waits
  ReductionHandle(String words, LayerSpans spans) {
    this.words = words;
    this.spans = spans;
  }

  /// Returns one handle for all of these handles, which is done when all are. If any has failed, it
  /// fails with the cause of the first failed one in this order, and passes the results of the
  /// others to `discard`.
  static <T> ReductionHandle<List<T>> of(
      String words,
      LayerSpans spans,
      List<? extends Handle<T>> parts,
      Consumer<? super T> discard) {
    ReductionHandle<List<T>> all = new ReductionHandle<>(words, spans);
    Parts<T> ended = new Parts<>(all, parts.size(), discard);
    for (int i = 0; i < parts.size(); i++) {
      int place = i;
      parts.get(i).whenDone((result, cause) -> ended.end(place, result, cause));
    }
    ended.countDown();
    return all;
  }

  /// The results of a group's parts. Any thread; the decrements of `left` order the writes of all
  /// threads before the reads of the last one.
  private static final class Parts<T> {
    private final ReductionHandle<List<T>> all;
    private final List<@Nullable T> results;
    private final @Nullable CommException[] causes;
    private final Consumer<? super T> discard;
    private final AtomicInteger left;

    Parts(ReductionHandle<List<T>> all, int parts, Consumer<? super T> discard) {
      this.all = all;
      this.results = new ArrayList<>(Collections.nCopies(parts, null));
      this.causes = new CommException[parts];
      this.discard = discard;
      this.left = new AtomicInteger(parts + 1);
    }

    void end(int place, @Nullable T result, @Nullable CommException cause) {
      results.set(place, result);
      causes[place] = cause;
      countDown();
    }

    void countDown() {
      if (left.decrementAndGet() > 0) {
        return;
      }
      List<T> arrived = new ArrayList<>();
      for (T result : results) {
        if (result != null) {
          arrived.add(result);
        }
      }
      for (CommException cause : causes) {
        if (cause != null) {
          arrived.forEach(discard);
          all.fail(cause);
          return;
        }
      }
      all.complete(List.copyOf(arrived));
    }
  }

  void complete(T result) {
    var unused = future.complete(result);
  }

  void fail(CommException cause) {
    var unused = future.completeExceptionally(cause);
  }

  @Override
  public boolean isDone() {
    return future.isDone();
  }

  @Override
  public T await() throws InterruptedException {
    checkThread();
    long begun = future.isDone() ? 0 : spans.now();
    try {
      return future.get();
    } catch (ExecutionException failed) {
      throw cause(failed);
    } finally {
      spans.record(SpanCategory.WAIT, words, begun);
    }
  }

  @Override
  public T await(Duration timeout) throws InterruptedException {
    Objects.requireNonNull(timeout, "timeout");
    checkThread();
    long begun = future.isDone() ? 0 : spans.now();
    try {
      return future.get(ClampedDuration.nanos(timeout), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failed) {
      throw cause(failed);
    } catch (TimeoutException late) {
      throw new CommException.TimedOut(
          words
              + " is not done after "
              + ClampedDuration.millis(timeout)
              + " ms; it goes on, its tensors stay borrowed; await again, or lower its deadline",
          List.of());
    } finally {
      spans.record(SpanCategory.WAIT, words, begun);
    }
  }

  private void checkThread() {
    if (!future.isDone() && NegotiationThread.isTurning()) {
      throw new IllegalStateException(
          words + ": awaited in a callback, on the thread that would end it");
    }
  }

  private static CommException cause(ExecutionException failed) {
    if (failed.getCause() instanceof CommException cause) {
      return cause.thrownByWaiter();
    }
    throw new IllegalStateException("a handle fails with a CommException", failed);
  }

  @Override
  public void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
    Objects.requireNonNull(action, "action");
    var unused =
        future.whenComplete(
            (result, thrown) -> {
              try {
                action.accept(result, thrown instanceof CommException cause ? cause : null);
              } catch (RuntimeException | Error broken) {
                LOG.error("the callback of {} threw; a callback must not throw", words, broken);
              }
            });
  }

  @Override
  public CompletableFuture<T> toCompletableFuture() {
    return future.copy();
  }
}
