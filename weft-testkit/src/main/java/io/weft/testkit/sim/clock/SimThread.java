// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.clock;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A blocking program in virtual time: a thread that runs only while it holds the scheduler. Time
/// passes while it waits. Only the thread that holds the scheduler may call its methods.
public final class SimThread {

  private final SimScheduler scheduler;
  private final String name;
  private final Thread thread;
  private final LongSupplier notBefore;
  private final Resumption resumption = new Resumption();
  private volatile boolean holding;
  private boolean waiting;
  private boolean ended;
  private long waitingSince;
  private @Nullable Error death;

  /// Creates a thread for `body`; null for the existing thread that starts the simulation.
  SimThread(SimScheduler scheduler, String name, @Nullable Runnable body, LongSupplier notBefore) {
    this.scheduler = scheduler;
    this.name = name;
    this.notBefore = notBefore;
    this.thread =
        body == null
            ? Thread.currentThread()
            : Thread.ofVirtual().name(name).unstarted(() -> live(body));
  }

  private void live(Runnable body) {
    awaitScheduler();
    try {
      if (death == null) {
        body.run();
      }
    } finally {
      ended = true;
      scheduler.leave();
    }
  }

  /// Starts the program at this moment.
  public void startAt(long nanos) {
    waiting = true;
    waitingSince = nanos;
    thread.start();
    scheduler.events().at(nanos, resumption);
  }

  /// Waits until it is resumed; may return early. Only its own thread may call it. Throws the error
  /// with which it was killed.
  public void block() {
    throwIfDead();
    waiting = true;
    waitingSince = scheduler.events().now();
    scheduler.driveUntilDue(this);
    waiting = false;
    throwIfDead();
  }

  /// Waits like `block`, until a moment at the latest.
  public void blockUntil(long nanos) {
    scheduler.events().notAfter(nanos, resumption);
    block();
    scheduler.events().cancel(resumption);
  }

  /// Ends its wait, if it waits, at this moment or, if later, when its process may run again.
  public void resumeAt(long nanos) {
    if (waiting && !ended) {
      scheduler.events().notAfter(Math.max(nanos, notBefore.getAsLong()), resumption);
    }
  }

  /// Kills the program: its present wait and all later ones throw this error.
  public void kill(Error cause) {
    if (death == null) {
      death = cause;
      if (waiting && !ended) {
        scheduler.events().notAfter(scheduler.events().now(), resumption);
      }
    }
  }

  /// Throws the error with which it was killed, if any.
  public void throwIfDead() {
    Error cause = death;
    if (cause != null) {
      throw cause;
    }
  }

  /// Returns whether the caller is its thread.
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /// Returns whether the program has returned or thrown.
  public boolean hasEnded() {
    return ended;
  }

  /// Returns the time since which it waits.
  public long waitingSinceNanos() {
    return waitingSince;
  }

  /// Returns its present stack.
  public StackTraceElement[] stack() {
    return thread.getStackTrace();
  }

  @Override
  public String toString() {
    return name;
  }

  void give() {
    holding = true; // volatile: releases all earlier writes to awaitScheduler
    LockSupport.unpark(thread);
  }

  void awaitScheduler() {
    while (!holding) {
      LockSupport.park(this);
    }
    holding = false;
  }

  /// Waits for the scheduler for at most this real time; returns whether it got the scheduler.
  boolean awaitScheduler(long realNanos) {
    if (!holding) {
      LockSupport.parkNanos(this, realNanos);
    }
    boolean came = holding;
    if (came) {
      holding = false;
    }
    return came;
  }

  private final class Resumption extends ScheduledEvent {
    @Override
    protected void happen() {
      if (!waiting || ended) {
        return;
      }
      long free = death == null ? notBefore.getAsLong() : 0;
      if (free > scheduler.events().now()) {
        scheduler.events().at(free, this);
      } else {
        scheduler.next(SimThread.this);
      }
    }
  }
}
