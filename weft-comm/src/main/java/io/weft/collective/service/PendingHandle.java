// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.collective.group.OperationSignature;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.observer.ObservedOperation;
import io.weft.text.Printable;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The handle of a submitted operation. The thread that runs the agent completes it once. Any
/// thread may await it, and runs the agent itself while no other thread does.
sealed class PendingHandle<T> implements Handle<T> permits InlineOperation {

  /// Upper bound of `await()`. The operation's hard deadline ends it much earlier.
  private static final Duration FOREVER = Duration.ofDays(365);

  private static final Logger LOG = LoggerFactory.getLogger(PendingHandle.class);

  /// The time that a caller runs the agent before it checks for an interrupt.
  private static final long DRIVE_NANOS = 100_000_000;

  private final MeshCommunicator owner;
  private final OperationName name;
  private final OperationSignature signature;
  private final CopyOut<T> copyOut;
  private final long id;
  private @Nullable List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> actions;
  private @Nullable ObservedOperation operation;
  private boolean endTold;
  private volatile boolean watched;
  private volatile boolean done;
  private @Nullable T result;
  private @Nullable CommException failure;

  PendingHandle(
      MeshCommunicator owner,
      OperationName name,
      OperationSignature signature,
      CopyOut<T> copyOut) {
    this.owner = owner;
    this.name = name;
    this.signature = signature;
    this.copyOut = copyOut;
    this.id = owner.collectives().nextOperation();
  }

  /// The work that remains after all ranks have done their part.
  interface CopyOut<T> {

    /// Converts the operation's result to the user's result. On the thread that runs the progress
    /// engine.
    T result(T brought);

    /// Called once when the operation has ended, with or without success.
    void end();

    /// Returns the copy-out without work.
    @SuppressWarnings("unchecked") // it gives what it is given
    static <T> CopyOut<T> none() {
      return (CopyOut<T>) NoCopyOut.NONE;
    }
  }

  private enum NoCopyOut implements CopyOut<Object> {
    NONE;

    @Override
    public Object result(Object brought) {
      return brought;
    }

    @Override
    public void end() {}
  }

  /// Converts the operation's result to the user's result. Throws the exceptions of a hook.
  final T copyOut(T brought) {
    return copyOut.result(brought);
  }

  final MeshCommunicator owner() {
    return owner;
  }

  /// Sets the operation of this handle. Before it is submitted.
  final void belongsTo(ObservedOperation its) {
    operation = its;
  }

  /// Notifies the observer, once, that the operation has ended. On the thread that runs the
  /// progress engine, or after that has ended.
  final void tellEnd(ObservedOperation its, @Nullable CommException cause) {
    if (!endTold) {
      endTold = true;
      owner.collectives().observer().ended(its, cause, runner().nanos());
    }
  }

  /// Returns the operation's number in its events.
  public final long id() {
    return id;
  }

  final OperationName operationName() {
    return name;
  }

  final OperationSignature signature() {
    return signature;
  }

  final AgentRunner runner() {
    return owner.runner();
  }

  /// Completes the handle; only the first call counts. On the thread that runs the progress engine,
  /// or before that has taken the operation.
  final void complete(@Nullable T value, @Nullable CommException error) {
    if (done) {
      return;
    }
    copyOut.end();
    name.giveBack(); // before another thread can see `done`
    result = value;
    failure = error;
    done = true; // volatile: releases result and failure; precedes the read of `watched`
    if (watched) {
      tell(value, error);
    }
  }

  /// Ends a handle whose operation is not submitted and which no caller has received.
  public void withdraw() {
    copyOut.end();
    name.giveBack();
  }

  private void tell(@Nullable T value, @Nullable CommException error) {
    List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> due;
    synchronized (this) {
      due = actions == null ? List.of() : List.copyOf(actions);
      actions = null;
      notifyAll();
    }
    for (var action : due) {
      run(action, value, error);
    }
  }

  /// Runs a callback. An exception, which it must not throw, is only logged.
  private void run(
      BiConsumer<? super @Nullable T, ? super @Nullable CommException> action,
      @Nullable T value,
      @Nullable CommException error) {
    try {
      action.accept(value, error);
    } catch (RuntimeException | Error e) {
      LOG.error(
          "{}: a callback of '{}' threw, which it must not",
          owner.group().self(),
          Printable.of(name.toString()),
          e);
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
    if (!done) {
      beforeWait();
    }
    if (!done) {
      AgentRunner runner = requireOutside();
      long now = runner.nanos();
      awaitDriving(
          runner,
          now,
          now + Math.min(ClampedDuration.nanos(timeout), ClampedDuration.nanos(FOREVER)),
          timeout);
    }
    return outcome();
  }

  /// Awaits until this time by the runner's clock.
  ///
  /// @param timeout the user's timeout, for the error
  final T awaitUntil(long end, Duration timeout) throws InterruptedException {
    if (!done) {
      beforeWait();
    }
    if (!done) {
      AgentRunner runner = requireOutside();
      awaitDriving(runner, runner.nanos(), end, timeout);
    }
    return outcome();
  }

  /// Called when a user begins to wait for an operation that is not done.
  ///
  /// Hot path.
  void beforeWait() {}

  private AgentRunner requireOutside() {
    AgentRunner runner = runner();
    if (runner.isInside()) {
      throw new IllegalStateException(
          "await of '"
              + name
              + "' in a callback, on the thread that runs the agent of "
              + owner.group().self()
              + ": it would wait for itself; use whenDone, or await on another thread");
    }
    return runner;
  }

  /// Returns the failure or null, after the operation has ended.
  final @Nullable CommException failure() {
    return failure;
  }

  private T outcome() {
    CommException error = failure;
    if (error != null) {
      throw error.thrownByWaiter();
    }
    return value();
  }

  private void awaitDriving(AgentRunner runner, long begin, long end, Duration timeout)
      throws InterruptedException {
    long now = begin;
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (now - end >= 0) {
        throw owner.softTimeout(name, signature, timeout);
      }
      boolean driven = runner.drive(this::isDone, Math.min(end, now + DRIVE_NANOS));
      if (done) {
        return;
      }
      if (runner.isEnded()) {
        forgotten();
        return;
      }
      if (!driven) {
        synchronized (this) {
          watched = true; // volatile: before `done` is read; pairs with complete
          if (!done) {
            wait(1);
          }
        }
      }
      now = runner.nanos();
    }
  }

  /// Fails the handle if the agent has ended without completing it. The agent may be completing it
  /// at this moment.
  private synchronized void forgotten() {
    ObservedOperation its = operation;
    if (!done && its != null) {
      CommException cause = owner.ended();
      tellEnd(its, cause);
      complete(null, cause);
    }
  }

  /// Returns the result, after the operation has succeeded.
  @SuppressWarnings("NullAway") // null only where T is Void
  final T value() {
    return result;
  }

  @Override
  public void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
    Objects.requireNonNull(action, "action");
    synchronized (this) {
      watched = true; // volatile: before `done` is read; pairs with complete
      if (!done) {
        if (actions == null) {
          actions = new ArrayList<>(1);
        }
        actions.add(action);
        return;
      }
    }
    AgentRunner progress = runner();
    if (progress.isEnded() && !progress.isInside()) {
      progress.runLeft(() -> run(action, result, failure)); // so that its submissions are refused
    } else {
      run(action, result, failure);
    }
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
