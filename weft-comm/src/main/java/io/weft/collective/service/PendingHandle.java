// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.collective.group.OperationSignature;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.observer.ObservedOperation;
import io.weft.text.Printable;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The handle of a submitted operation. Completed once, by the thread that turns the agent; awaited
/// by any, which turn the agent themselves while nobody else does.
sealed class PendingHandle<T> implements Handle<T> permits InlineOperation {

  /// Upper bound of `await()`: the operation's hard deadline ends it long before.
  private static final Duration FOREVER = Duration.ofDays(365);

  private static final Logger LOG = LoggerFactory.getLogger(PendingHandle.class);

  /// How long a caller turns the agent before it looks whether it was interrupted.
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

  /// Of an operation of this communicator.
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

  /// What is left to do when all ranks have done their part.
  interface CopyOut<T> {

    /// Makes the user's result of what the operation brought. Where the progress thread runs.
    T result(T brought);

    /// The operation is over, one way or the other. Once.
    void end();

    /// Nothing is left to do.
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

  /// Makes the user's result of what the operation brought; throws what a hook throws.
  final T copyOut(T brought) {
    return copyOut.result(brought);
  }

  final MeshCommunicator owner() {
    return owner;
  }

  /// Whose handle it is; before it is submitted.
  final void belongsTo(ObservedOperation its) {
    operation = its;
  }

  /// Tells the observer, once, that the operation is over. Where the progress thread runs, or when
  /// that is over.
  final void tellEnd(ObservedOperation its, @Nullable CommException cause) {
    if (!endTold) {
      endTold = true;
      owner.collectives().observer().ended(its, cause, runner().nanos());
    }
  }

  /// Of the operation, in its events.
  public final long id() {
    return id;
  }

  /// Of the operation.
  final OperationName operationName() {
    return name;
  }

  final OperationSignature signature() {
    return signature;
  }

  final AgentRunner runner() {
    return owner.runner();
  }

  /// Only the first call counts. Where the progress thread runs, or before it has taken the
  /// operation.
  final void complete(@Nullable T value, @Nullable CommException error) {
    if (done) {
      return;
    }
    copyOut.end();
    name.giveBack(); // before anyone can see that it is done
    result = value;
    failure = error;
    done = true; // volatile: releases result and failure to isDone; and before it is read who looks
    if (watched) {
      tell(value, error);
    }
  }

  /// Its operation is not submitted, and nobody has this handle.
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

  /// What a callback throws, which it must not, harms nobody but itself.
  private void run(
      BiConsumer<? super @Nullable T, ? super @Nullable CommException> action,
      @Nullable T value,
      @Nullable CommException error) {
    try {
      action.accept(value, error);
    } catch (RuntimeException | Error e) {
      LOG.error(
          "{}: what is to run when '{}' is done threw; it must not",
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
      awaitDriving(runner, now, now + Math.min(Span.nanos(timeout), Span.nanos(FOREVER)), timeout);
    }
    return outcome();
  }

  /// The same until this time by the runner's clock.
  ///
  /// @param timeout what the user gave, for the error
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

  /// A user begins to wait for what is not done.
  ///
  /// Hot path.
  void beforeWait() {}

  private AgentRunner requireOutside() {
    AgentRunner runner = runner();
    if (runner.isInside()) {
      throw new IllegalStateException(
          "await of '"
              + name
              + "' in a callback, on the thread that turns the agent of "
              + owner.group().self()
              + ": it would wait for itself; use whenDone, or await on another thread");
    }
    return runner;
  }

  /// Once it is done: why it failed, or null.
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
      if (runner.isOver()) {
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

  /// Nobody turns the agent any more, and what ended with it has ended: this was forgotten, or is
  /// being ended at this moment.
  private synchronized void forgotten() {
    ObservedOperation its = operation;
    if (!done && its != null) {
      CommException cause = owner.ended();
      tellEnd(its, cause);
      complete(null, cause);
    }
  }

  /// Once it has succeeded.
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
    AgentRunner turned = runner();
    if (turned.isOver() && !turned.isInside()) {
      turned.runLeft(
          () -> run(action, result, failure)); // so that it is refused what it asks again
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
