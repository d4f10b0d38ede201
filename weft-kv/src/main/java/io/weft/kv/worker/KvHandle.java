// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A single handle for the requests of a push, pull or call. It is done when all of them have
/// completed, because they borrow its memory until then. A waiting thread drives the progress
/// thread's agent unless another thread does. Any thread.
///
/// @param <T> the result
public final class KvHandle<T> implements Handle<T> {

  private static final Logger LOG = LoggerFactory.getLogger(KvHandle.class);
  private static final Duration FOREVER = Duration.ofDays(365);

  /// The time for which a waiting thread drives the agent before it checks for an interrupt.
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

  /// @param words a description of the operation and its rank, for errors
  /// @param result called once, when all requests have succeeded
  public KvHandle(AgentRunner runner, String words, Supplier<? extends @Nullable T> result) {
    this(runner, words, result, null);
  }

  /// @param verdict is notified of failed requests, and determines the handle's failure; null = the
  ///   first failure
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

  /// The outcome of a failed request.
  enum Fate {
    /// The shard has executed it.
    DONE,
    /// The shard has not executed it, and will not.
    NOT_DONE,
    /// It is unknown whether the shard has executed it.
    UNKNOWN,
    /// The shard has reported that the table has ended.
    ENDED
  }

  /// Interprets the failures of a handle's requests. Any thread.
  interface Verdict {

    /// Records the start of a request.
    void begun();

    /// Records the failure of a started request.
    void failed(ShardRequest.What what, Fate fate, CommException cause);

    /// Returns the handle's failure, after all requests have completed and some have failed.
    ///
    /// @param first failure
    CommException judge(CommException first);
  }

  /// Returns a description of the operation and its rank.
  String words() {
    return words;
  }

  /// Adds a request to the handle. Before `sealed`.
  void add() {
    left.incrementAndGet();
  }

  /// Records the completion of a request. If it failed, `cause` is its failure. The first failure
  /// counts.
  void ended(@Nullable CommException cause) {
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

  /// Records the start of a request for the verdict.
  void begun() {
    if (verdict != null) {
      verdict.begun();
    }
  }

  void failed(ShardRequest.What what, Fate fate, CommException cause) {
    if (verdict != null) {
      verdict.failed(what, fate, cause);
    }
    ended(cause);
  }

  /// Records that a request could not be sent, so that the remaining requests need not be sent.
  /// Called by the sending thread.
  void stop() {
    stopped = true;
  }

  /// Returns whether a request could not be sent.
  boolean isStopped() {
    return stopped;
  }

  /// Returns whether no request is in progress, before `sealed`.
  boolean isIdle() {
    return left.get() == 1;
  }

  /// Records that all requests have been added. Called once.
  public void sealed() {
    ended(null);
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
    long end = now + Math.min(ClampedDuration.nanos(timeout), ClampedDuration.nanos(FOREVER));
    while (!done) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (now - end >= 0) {
        throw new CommException.TimedOut(
            words
                + " is not done after "
                + ClampedDuration.millis(timeout)
                + " ms; it continues, and its memory stays borrowed; await again",
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
    if (turned.isEnded() && !turned.isInside()) {
      turned.runLeft(() -> run(action)); // so that its new requests are refused
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

  /// Returns a description of the operation, its rank and its state.
  @Override
  public String toString() {
    if (!done) {
      return words + ": under way";
    }
    CommException cause = failure;
    return words + (cause == null ? ": done" : ": failed: " + cause.getMessage());
  }
}
