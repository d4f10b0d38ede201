// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import io.weft.agent.AgentRunner;
import io.weft.transport.limit.ClampedDuration;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A handle that its operation completes or fails, once. A waiting thread drives the agent of the
/// operation's runner, if there is one, while no other thread does; otherwise it parks. Each waiter
/// throws its own copy of the failure. Any thread.
///
/// A subclass adds the state of its operation, and may override the hooks, which are protected.
public abstract class CompletableHandle<T> implements Handle<T> {

  /// Upper bound of `await()`. The operation's hard deadline ends it much earlier.
  private static final Duration FOREVER = Duration.ofDays(365);

  /// The time for which a caller drives the agent before it checks for an interrupt.
  private static final long DRIVE_NANOS = 100_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(CompletableHandle.class);

  private static final VarHandle OUTCOME;

  static {
    try {
      OUTCOME =
          MethodHandles.lookup().findVarHandle(CompletableHandle.class, "outcome", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /// The result of an operation that has none, so that null means "not done".
  private enum NoResult {
    NONE
  }

  /// The result, `NoResult.NONE` or the `CommException` of the failure; null while not done.
  private volatile @Nullable Object outcome;

  private volatile boolean watched;

  // Guarded by this. Most handles have at most one action.
  private @Nullable BiConsumer<? super @Nullable T, ? super @Nullable CommException> action;
  private @Nullable List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> more;

  /// Creates a handle that is not done.
  protected CompletableHandle() {}

  /// Returns a handle that is not done, of an operation without an agent of its own.
  ///
  /// @param words the operation and its rank in words, for errors
  public static <T> CompletableHandle<T> of(String words) {
    return new Described<>(words);
  }

  private static final class Described<T> extends CompletableHandle<T> {
    private final String words;

    Described(String words) {
      this.words = Objects.requireNonNull(words, "words");
    }

    @Override
    protected String description() {
      return words;
    }
  }

  // --- hooks

  /// Returns the operation and its rank in words, for errors.
  protected abstract String description();

  /// Returns the runner of the agent that completes the operation; null if a waiter cannot drive
  /// it.
  protected @Nullable AgentRunner runner() {
    return null;
  }

  /// Returns whether the calling thread is the one that completes the operation, so that it must
  /// not wait for it.
  protected boolean isCompletedHere() {
    AgentRunner runner = runner();
    return runner != null && runner.isInside();
  }

  /// Called when a caller begins to wait for an operation that is not done.
  ///
  /// Hot path.
  protected void beforeWait() {}

  /// Called by a waiter when the runner has ended and the operation is not done. May fail the
  /// handle.
  protected void abandoned() {}

  /// Returns the failure of a wait that has lasted for `waited`.
  protected CommException.TimedOut timedOut(Duration waited) {
    return new CommException.TimedOut(
        description()
            + " is not done after "
            + ClampedDuration.millis(waited)
            + " ms; it continues, and its memory stays borrowed; await again, or lower its"
            + " deadline",
        List.of());
  }

  // --- the operation

  /// Completes the handle with this result. Returns false, without effect, if the handle is done.
  ///
  /// Hot path.
  public final boolean complete(@Nullable T result) {
    return end(result == null ? NoResult.NONE : result);
  }

  /// Fails the handle with this cause. Returns false, without effect, if the handle is done.
  public final boolean fail(CommException cause) {
    return end(Objects.requireNonNull(cause, "cause"));
  }

  /// Fails the handle with `cause` if that is a `CommException`, and otherwise with `Broken`, since
  /// this rank has a defect or lacks memory. Returns false, without effect, if the handle is done.
  ///
  /// @param rank this rank's number in the job
  public final boolean fail(Throwable cause, int rank) {
    return fail(failureOf(cause, rank));
  }

  /// Returns the failure with which `fail(cause, rank)` fails the handle.
  protected final CommException failureOf(Throwable cause, int rank) {
    return cause instanceof CommException known
        ? known
        : new CommException.Broken(
            description() + " failed: " + cause + "; the other ranks' part of it is done",
            rank,
            cause);
  }

  private boolean end(Object ended) {
    // Releases the outcome, and precedes the read of `watched`.
    if (!OUTCOME.compareAndSet(this, null, ended)) {
      return false;
    }
    if (watched) {
      tell();
    }
    return true;
  }

  private void tell() {
    BiConsumer<? super @Nullable T, ? super @Nullable CommException> first;
    List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> rest;
    synchronized (this) {
      first = action;
      rest = more == null ? List.of() : more;
      action = null;
      more = null;
      notifyAll();
    }
    if (first != null) {
      run(first);
    }
    rest.forEach(this::run);
  }

  /// Runs an action. An exception, which it must not throw, is only logged.
  private void run(BiConsumer<? super @Nullable T, ? super @Nullable CommException> due) {
    try {
      CommException cause = failure();
      due.accept(cause == null ? result() : null, cause);
    } catch (RuntimeException | Error thrown) {
      LOG.error("a callback of {} threw, which it must not", description(), thrown);
    }
  }

  // --- the caller

  @Override
  public final boolean isDone() {
    return outcome != null;
  }

  /// Returns the failure, or null if the operation has succeeded or is not done.
  protected final @Nullable CommException failure() {
    return outcome instanceof CommException cause ? cause : null;
  }

  /// Returns the result of an operation that has succeeded.
  @SuppressWarnings({"NullAway", "unchecked"}) // null only where T is Void
  private T result() {
    Object ended = outcome;
    return ended == NoResult.NONE ? null : (T) ended;
  }

  @Override
  public final T await() throws InterruptedException {
    return await(FOREVER);
  }

  @Override
  public T await(Duration timeout) throws InterruptedException {
    Objects.requireNonNull(timeout, "timeout");
    if (!isDone()) {
      beforeWait();
    }
    if (!isDone()) {
      if (isCompletedHere()) {
        throw new IllegalStateException(
            "await of "
                + description()
                + " in a callback, on the thread that completes it: it would wait for itself; use"
                + " whenDone, or await on another thread");
      }
      AgentRunner runner = runner();
      if (runner == null) {
        park(timeout);
      } else {
        awaitDriving(runner, timeout);
      }
    }
    CommException cause = failure();
    if (cause != null) {
      throw cause.thrownByWaiter();
    }
    return result();
  }

  private void awaitDriving(AgentRunner runner, Duration timeout) throws InterruptedException {
    long now = runner.nanos();
    long end = now + Math.min(ClampedDuration.nanos(timeout), ClampedDuration.nanos(FOREVER));
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (now - end >= 0) {
        throw timedOut(timeout);
      }
      boolean driven = runner.drive(this::isDone, Math.min(end, now + DRIVE_NANOS));
      if (!isDone() && runner.isEnded()) {
        abandoned();
      }
      if (isDone()) {
        return;
      }
      if (!driven) {
        synchronized (this) {
          watched = true; // volatile: before the outcome is read; pairs with `end`
          if (!isDone()) {
            wait(1);
          }
        }
      }
      now = runner.nanos();
    }
  }

  private void park(Duration timeout) throws InterruptedException {
    var ended = new CountDownLatch(1);
    BiConsumer<@Nullable T, @Nullable CommException> waiter = (result, cause) -> ended.countDown();
    if (!watch(waiter)) {
      return;
    }
    try {
      if (!ended.await(ClampedDuration.nanos(timeout), TimeUnit.NANOSECONDS) && !isDone()) {
        throw timedOut(timeout);
      }
    } finally {
      unwatch(waiter);
    }
  }

  @Override
  public final void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> due) {
    Objects.requireNonNull(due, "action");
    if (watch(due)) {
      return;
    }
    AgentRunner runner = runner();
    if (runner != null && runner.isEnded() && !runner.isInside()) {
      runner.runLeft(() -> run(due)); // so that its submissions are refused
    } else {
      run(due);
    }
  }

  /// Registers an action. Returns false, without effect, if the handle is done.
  private synchronized boolean watch(
      BiConsumer<? super @Nullable T, ? super @Nullable CommException> due) {
    watched = true; // volatile: before the outcome is read; pairs with `end`
    if (isDone()) {
      return false;
    }
    if (action == null) {
      action = due;
    } else {
      if (more == null) {
        more = new ArrayList<>(1);
      }
      more.add(due);
    }
    return true;
  }

  private synchronized void unwatch(
      BiConsumer<? super @Nullable T, ? super @Nullable CommException> due) {
    if (action == due) {
      action = more == null || more.isEmpty() ? null : more.removeFirst();
    } else if (more != null) {
      more.remove(due);
    }
  }

  @Override
  public final CompletableFuture<T> toCompletableFuture() {
    CompletableFuture<T> future = new CompletableFuture<>();
    whenDone(
        (result, cause) -> {
          var unused =
              cause != null ? future.completeExceptionally(cause) : future.complete(result);
        });
    return future;
  }

  /// Returns the operation, its rank and its state in words.
  @Override
  public final String toString() {
    CommException cause = failure();
    return description()
        + (cause != null ? ": failed: " + cause.getMessage() : isDone() ? ": done" : ": under way");
  }
}
