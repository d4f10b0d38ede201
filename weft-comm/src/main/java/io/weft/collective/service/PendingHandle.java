// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.CommException;
import io.weft.Handle;
import io.weft.agent.Lane;
import io.weft.collective.group.Signature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The handle of a submitted operation. Completed once, by the thread that turns the lane; awaited
/// by any, which turn the lane themselves while nobody else does.
sealed class PendingHandle<T> implements Handle<T> permits PromptAllreduce {

  /// Upper bound of `await()`: the operation's hard deadline ends it long before.
  private static final Duration FOREVER = Duration.ofDays(365);

  /// How long a caller turns the lane before it looks whether it was interrupted.
  private static final long DRIVE_NANOS = 100_000_000;

  private final MeshCommunicator owner;
  private final OperationName name;
  private final Signature signature;
  private @Nullable List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> actions;
  private int looks; // of all who wait, roughly
  private volatile boolean watched;
  private volatile boolean done;
  private @Nullable T result;
  private @Nullable CommException failure;

  /// Of an operation of this communicator.
  PendingHandle(MeshCommunicator owner, OperationName name, Signature signature) {
    this.owner = owner;
    this.name = name;
    this.signature = signature;
  }

  final MeshCommunicator owner() {
    return owner;
  }

  /// Of the operation.
  final OperationName operationName() {
    return name;
  }

  final Signature signature() {
    return signature;
  }

  final Lane lane() {
    return owner.lane();
  }

  /// Only the first call counts. Where the lane runs, or before it has taken the operation.
  final void complete(@Nullable T value, @Nullable CommException error) {
    if (done) {
      return;
    }
    name.giveBack(); // before anyone can see that it is done
    result = value;
    failure = error;
    done = true; // volatile: releases result and failure to isDone; and before it is read who looks
    if (watched) {
      tell(value, error);
    }
  }

  private void tell(@Nullable T value, @Nullable CommException error) {
    List<BiConsumer<? super @Nullable T, ? super @Nullable CommException>> due;
    synchronized (this) {
      due = actions == null ? List.of() : List.copyOf(actions);
      actions = null;
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
    Lane lane = lane();
    if (lane.isOwnThread()) {
      throw new IllegalStateException("the lane's own thread must not wait; use whenDone");
    }
    if (!done) {
      awaitDriving(lane, timeout);
    }
    CommException error = failure;
    if (error != null) {
      throw error;
    }
    return value();
  }

  private void awaitDriving(Lane lane, Duration timeout) throws InterruptedException {
    long begun = lane.nanos();
    long now = begun;
    long end = now + Math.min(timeout.toNanos(), FOREVER.toNanos());
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (now - end >= 0) {
        throw owner.softTimeout(name, signature, timeout);
      }
      boolean driven = lane.drive(this::looksDone, Math.min(end, now + DRIVE_NANOS));
      if (done) {
        owner.parting().leave(looks, signature.bytes(), begun, lane);
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
      now = lane.nanos();
    }
  }

  /// Asked before each turn of the lane.
  private boolean looksDone() {
    looks++;
    return done;
  }

  @SuppressWarnings("NullAway") // null only where T is Void
  private T value() {
    return result;
  }

  @Override
  public void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action) {
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
