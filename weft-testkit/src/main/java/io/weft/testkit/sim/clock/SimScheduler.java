// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.clock;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The scheduler of a simulation's programs, which lets one thread run at a time. A program that
/// waits runs the events on its own thread until the next program is due. A wait therefore switches
/// threads only if another program is due. Each hand-over orders the memory accesses of the
/// threads.
public final class SimScheduler {

  private static final long LOOK_NANOS = 200_000_000;

  private final EventQueue events;
  private final Duration limit;
  private final List<SimThread> simThreads = new ArrayList<>();
  private final SimThread root;
  private @Nullable SimThread next;
  private volatile @Nullable SimThread running;
  private volatile boolean stopped;
  private volatile @Nullable Throwable broken;
  private long limitNanos;
  private int alive;
  private boolean closing;

  /// Creates a scheduler. The calling thread holds it, and must also call `run`.
  ///
  /// @param limit the real time for which a program may hold the scheduler
  public SimScheduler(EventQueue events, Duration limit) {
    Objects.requireNonNull(events, "events");
    Objects.requireNonNull(limit, "limit");
    this.events = events;
    this.limit = limit;
    this.root = new SimThread(this, "root", null, () -> 0);
  }

  /// Creates a program that begins when it is started.
  ///
  /// @param notBefore returns the moment before which it must not run or resume
  public SimThread simThread(String name, Runnable program, LongSupplier notBefore) {
    Objects.requireNonNull(program, "program");
    Objects.requireNonNull(notBefore, "notBefore");
    SimThread simThread = new SimThread(this, name, program, notBefore);
    simThreads.add(simThread);
    alive++;
    return simThread;
  }

  /// Runs events until every program has ended or `limitNanos` of virtual time have passed. Returns
  /// the programs that have not ended, for inspection before `close`. Throws
  /// `IllegalStateException` if a program blocks in real time or an event has thrown.
  public List<SimThread> run(long limitNanos) throws InterruptedException {
    this.limitNanos = limitNanos;
    driveUntilDue(root);
    throwIfBroken();
    return simThreads.stream().filter(simThread -> !simThread.hasEnded()).toList();
  }

  /// Kills the programs that have not ended, in order, and waits until they have unwound.
  public void close(Error cause) throws InterruptedException {
    Objects.requireNonNull(cause, "cause");
    closing = true;
    for (SimThread simThread : List.copyOf(simThreads)) {
      if (!simThread.hasEnded()) {
        simThread.kill(cause);
        hand(simThread, root);
      }
    }
    throwIfBroken();
  }

  private void throwIfBroken() throws InterruptedException {
    Throwable cause = broken;
    if (cause instanceof InterruptedException interrupted) {
      throw interrupted;
    }
    if (cause != null) {
      throw new IllegalStateException("the simulation has broken at " + events.now(), cause);
    }
  }

  EventQueue events() {
    return events;
  }

  void next(SimThread simThread) {
    next = simThread;
  }

  /// Ends the calling program.
  void leave() {
    alive--;
    if (closing) {
      root.give();
    } else {
      driveUntilDue(null);
    }
  }

  /// Runs events until the caller is due again. `self` is null if the caller ends.
  void driveUntilDue(@Nullable SimThread self) {
    while (true) {
      SimThread due = next;
      if (due == null && !goesOn()) {
        due = root;
      }
      if (due != null) {
        next = null;
        if (due != self) {
          hand(due, self);
        }
        return;
      }
    }
  }

  /// Runs one event; returns false if the simulation has ended.
  private boolean goesOn() {
    if (alive == 0 || stopped || closing) {
      return false;
    }
    try {
      return events.step(limitNanos);
    } catch (Throwable defect) {
      broken = defect;
      stopped = true;
      return false;
    }
  }

  private void hand(SimThread to, @Nullable SimThread from) {
    running = to;
    to.give();
    if (from == root) {
      watch();
    } else if (from != null) {
      from.awaitScheduler();
    }
  }

  /// Waits on the starting thread, and checks that the programs make progress in real time.
  private void watch() {
    long seen = -1;
    long since = System.nanoTime();
    while (!root.awaitScheduler(LOOK_NANOS)) {
      if (Thread.interrupted()) {
        broken = new InterruptedException("interrupted in a simulation");
        stopped = true;
      }
      long happened = events.happened();
      if (happened != seen) {
        seen = happened;
        since = System.nanoTime();
      } else if (System.nanoTime() - since > ClampedDuration.nanos(limit)) {
        throw stuck();
      }
    }
  }

  private IllegalStateException stuck() {
    SimThread holder = running;
    IllegalStateException failure =
        new IllegalStateException(
            holder
                + " has kept the simulation waiting for "
                + ClampedDuration.millis(limit) / 1000.0
                + " s of real time: it computes for ever, or waits for something outside virtual"
                + " time (a lock, a queue, a sleep); its stack is this exception's");
    if (holder != null) {
      failure.setStackTrace(holder.stack());
    }
    return failure;
  }
}
