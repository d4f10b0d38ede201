// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One handle for the requests of a push, pull or call: done when all of them are, since until then
/// they borrow its memory. Who waits turns the progress thread's agent while nobody else does. Any
/// thread.
///
/// @param <T> what comes out
public final class KvHandle<T> implements Handle<T> {

  private static final Logger LOG = LoggerFactory.getLogger(KvHandle.class);
  private static final Duration FOREVER = Duration.ofDays(365);

  /// How long a caller turns the agent before it looks whether it was interrupted.
  private static final long DRIVE_NANOS = 100_000_000;

  private final AgentRunner runner;
  private final String words;
  private final Supplier<? extends @Nullable T> result;
  private final @Nullable Verdict verdict;
  private final AtomicInteger left = new AtomicInteger(1);
  private @Nullable List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> actions;
  private volatile @Nullable CommException failure;
  private volatile boolean watched;
  private volatile boolean done;
  private @Nullable T value;
  private boolean stopped;

  /// @param words what runs, on which rank, for errors
  /// @param result called once, when all requests have succeeded
  public KvHandle(AgentRunner runner, String words, Supplier<? extends @Nullable T> result) {
    this(runner, words, result, null);
  }

  /// @param verdict hears of requests that fail, and says what the handle fails with; null = with
  ///   the first failure
  KvHandle(
      AgentRunner runner,
      String words,
      Supplier<? extends @Nullable T> result,
      @Nullable Verdict verdict) {
    this.runner = runner;
    this.words = words;
    this.result = result;
    this.verdict = verdict;
  }

  /// What has become of a request that failed.
  enum Fate {
    /// The shard has done it.
    DONE,
    /// The shard has not done it, and will not.
    NOT_DONE,
    /// It is not known.
    UNKNOWN,
    /// The shard has said that the table has ended.
    ENDED
  }

  /// Knows what it means that some requests of a handle have failed. Any thread.
  interface Verdict {

    /// A request begins.
    void begun();

    /// A request that has begun has failed.
    void failed(ShardRequest.What what, Fate fate, CommException cause);

    /// All requests are over, and some have failed: what the handle fails with.
    ///
    /// @param first failure
    CommException judge(CommException first);
  }

  /// What runs, on which rank.
  String words() {
    return words;
  }

  /// One more request belongs to it. Before `sealed`.
  void add() {
    left.incrementAndGet();
  }

  /// A request is over; with the cause if it failed, of which the first counts.
  void over(@Nullable CommException cause) {
    if (cause != null) {
      synchronized (this) {
        if (failure == null) {
          failure = cause;
        }
      }
    }
    if (left.decrementAndGet() == 0) {
      end();
    }
  }

  /// One of the requests that its verdict knows of begins.
  void begun() {
    if (verdict != null) {
      verdict.begun();
    }
  }

  /// A request is over without success.
  void failed(ShardRequest.What what, Fate fate, CommException cause) {
    if (verdict != null) {
      verdict.failed(what, fate, cause);
    }
    over(cause);
  }

  /// A request could not be sent: the others, which are not sent yet, need not be. By the thread
  /// that sends them.
  void stop() {
    stopped = true;
  }

  /// Whether a request could not be sent.
  boolean isStopped() {
    return stopped;
  }

  /// Whether no request is under way, before `sealed`.
  boolean isIdle() {
    return left.get() == 1;
  }

  /// All its requests are added. Once.
  public void sealed() {
    over(null);
  }

  private void end() {
    List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> due;
    CommException first = failure;
    if (first != null && verdict != null) {
      failure = verdict.judge(first);
    } else if (first == null) {
      try {
        value = result.get();
      } catch (RuntimeException | Error defect) {
        failure = new CommException.Broken(words + " failed: " + defect, -1, defect);
      }
    }
    done = true; // volatile: releases value and failure; before `watched` is read
    if (!watched) {
      return;
    }
    synchronized (this) {
      due = actions == null ? List.of() : List.copyOf(actions);
      actions = null;
      notifyAll();
    }
    due.forEach(this::run);
  }

  private void run(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
    try {
      action.accept(failure == null ? value : null, failure);
    } catch (RuntimeException | Error thrown) {
      LOG.error("an action after {} threw; it must not", words, thrown);
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
    Objects.requireNonNull(timeout, "timeout");
    if (!done && runner.isInside()) {
      throw new IllegalStateException(
          "await of "
              + words
              + " in a callback, on the thread that turns the agent: it would wait for itself; use"
              + " whenDone, or await on another thread");
    }
    long now = runner.nanos();
    long end = now + Math.min(Span.nanos(timeout), Span.nanos(FOREVER));
    while (!done) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (now - end >= 0) {
        throw new CommException.TimedOut(
            words
                + " is not done after "
                + Span.millis(timeout)
                + " ms; it goes on, its memory stays borrowed; await again",
            List.of());
      }
      boolean driven = runner.drive(this::isDone, Math.min(end, now + DRIVE_NANOS));
      if (!driven) {
        synchronized (this) {
          watched = true; // volatile: before `done` is read; pairs with `end`
          if (!done) {
            wait(1);
          }
        }
      }
      now = runner.nanos();
    }
    CommException cause = failure;
    if (cause != null) {
      throw cause.thrownByWaiter();
    }
    return value();
  }

  @SuppressWarnings("NullAway") // null only where T is Void
  private T value() {
    return value;
  }

  @Override
  public void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
    Objects.requireNonNull(action, "action");
    synchronized (this) {
      watched = true; // volatile: before `done` is read; pairs with `end`
      if (!done) {
        if (actions == null) {
          actions = new ArrayList<>(1);
        }
        actions.add(action);
        return;
      }
    }
    AgentRunner turned = runner;
    if (turned.isOver() && !turned.isInside()) {
      turned.runLeft(() -> run(action)); // so that it is refused what it asks again
    } else {
      run(action);
    }
  }

  @Override
  public CompletableFuture<T> toCompletableFuture() {
    CompletableFuture<T> future = new CompletableFuture<>();
    whenDone(
        (result, error) -> {
          if (error != null) {
            future.completeExceptionally(error);
          } else {
            future.complete(result);
          }
        });
    return future;
  }

  /// What runs, on which rank, and how far it is.
  @Override
  public String toString() {
    if (!done) {
      return words + ": under way";
    }
    CommException cause = failure;
    return words + (cause == null ? ": done" : ": failed: " + cause.getMessage());
  }
}
