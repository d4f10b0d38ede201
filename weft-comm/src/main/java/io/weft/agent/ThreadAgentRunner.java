// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A runner with a dedicated thread, which lets a waiting caller run the duty cycle instead, so
/// that a small blocking operation needs no thread hand-over. At most one thread is inside the
/// agent at any time. The compare-and-set on `inside`, paired with its release, orders the accesses
/// of successive threads.
final class ThreadAgentRunner implements AgentRunner {

  private static final Logger LOG = LoggerFactory.getLogger(ThreadAgentRunner.class);
  private static final long PARK_NANOS = 10_000_000;

  /// The time for which the progress thread leaves an idle agent to callers after one of them has
  /// driven it. It is longer than the work of a program between two blocking operations in a loop.
  /// Otherwise the progress thread would be in the agent's wait when the next caller arrives, and
  /// each operation would pay for waking it.
  private static final long LEFT_TO_CALLERS_NANOS = 20_000_000;

  /// The first interval at which the resting progress thread checks for commands that no caller
  /// waits for. The interval doubles at each check without such commands, up to
  /// `LONGEST_REST_NANOS`, because each check takes a core from a spinning rank on a machine
  /// without idle cores.
  private static final long REST_NANOS = 500_000;

  private static final long LONGEST_REST_NANOS = 8_000_000;

  /// After this number of commands without a caller in between, no caller is expected to wait for
  /// them.
  private static final int COMMANDS_LEFT_ALONE = 2;

  private static final int ENTER_TRIES = 2000;

  /// The longest time for which inline tasks may keep the agent from its duty cycle.
  private static final long INLINE_NANOS = 50_000;

  private final Agent agent;
  private final Ticker ticker;
  private final ScheduledTasks scheduled;
  private final IdleStrategy ownIdle;
  private final IdleStrategy callerIdle;
  private final AtomicBoolean inside = new AtomicBoolean();
  private final AtomicInteger callers = new AtomicInteger();
  private final AtomicInteger unattended = new AtomicInteger();
  private final Thread thread;

  /// The thread inside the agent. Only the thread that has set `inside` writes it. Reads are
  /// unordered: a thread finds itself here only if it wrote itself.
  private @Nullable Thread insider;

  /// Held by the thread that runs tasks submitted after the last duty cycle.
  private final ReentrantLock afterwards = new ReentrantLock();

  private volatile boolean parked;
  private volatile boolean resting;
  private final AtomicLong lastDriven = new AtomicLong();
  private volatile boolean closed;
  private volatile boolean ended;
  private long lastCycle;

  /// Takes over the agent. `start` starts the thread.
  ThreadAgentRunner(Agent agent, Ticker ticker, IdleStrategy own, IdleStrategy caller) {
    this.agent = agent;
    this.ticker = ticker;
    this.scheduled = new ScheduledTasks(ticker.nanos());
    this.ownIdle = own;
    this.callerIdle = caller;
    this.lastCycle = ticker.nanos() - LEFT_TO_CALLERS_NANOS;
    this.lastDriven.setPlain(lastCycle);
    this.thread = Thread.ofPlatform().daemon().name(agent.role()).unstarted(this::run);
  }

  @Override
  public void start() {
    thread.start();
  }

  @Override
  public void commandQueued() {
    if (parked) {
      agent.wake();
    } else if (resting
        && callers.get() == 0
        && unattended.incrementAndGet() == COMMANDS_LEFT_ALONE) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public boolean isInside() {
    Thread self = Thread.currentThread();
    return self == insider || self == thread || afterwards.isHeldByCurrentThread();
  }

  @Override
  public boolean schedule(long atNanos, Runnable task) {
    return scheduled.add(atNanos, task);
  }

  @Override
  public void runLeft(Runnable left) {
    if (!afterwards.isHeldByCurrentThread()) {
      afterwards.lock();
      try {
        left.run();
      } finally {
        afterwards.unlock();
      }
    }
  }

  @Override
  public boolean isEnded() {
    return ended;
  }

  private boolean tryEnter() {
    if (!inside.compareAndSet(false, true)) {
      return false;
    }
    insider = Thread.currentThread();
    return true;
  }

  private void leave() {
    insider = null;
    inside.set(false); // volatile: ordered before the later check for queued commands
  }

  @Override
  public boolean drive(BooleanSupplier done, long deadlineNanos) {
    callers.incrementAndGet();
    unattended.setOpaque(0);
    try {
      if (parked) {
        agent.wake();
      }
      if (!enter(done)) {
        return done.getAsBoolean();
      }
      try {
        runUntil(done, deadlineNanos);
        return !closed;
      } finally {
        lastDriven.setRelease(lastCycle);
        leave();
      }
    } finally {
      if (callers.decrementAndGet() == 0 && (agent.busy() || agent.hasCommands())) {
        LockSupport.unpark(thread);
      }
    }
  }

  @Override
  public void leaveToProgressThread() {
    lastDriven.set(ticker.nanos() - LEFT_TO_CALLERS_NANOS);
    if (resting) {
      LockSupport.unpark(thread);
    }
  }

  /// The calling thread does not count as a caller, because it does not wait to enter and stays
  /// inside only for a short time.
  ///
  /// Hot path.
  @Override
  public boolean lend(InlineTask inlineTask, long sinceNanos) {
    unattended.setOpaque(0);
    if (!tryEnter()) {
      return false;
    }
    boolean finished = false;
    try {
      finished = !closed && !agent.busy() && run(inlineTask, sinceNanos);
      if (finished && !closed && sinceNanos - lastCycle > INLINE_NANOS) {
        var unused = work(ticker.nanos());
      }
    } finally {
      lastDriven.setRelease(sinceNanos);
      leave();
      // If the task has not completed, the caller drives next.
      if (finished && (agent.busy() || agent.hasCommands()) && callers.get() == 0) {
        LockSupport.unpark(thread);
      }
    }
    return finished;
  }

  private boolean run(InlineTask inlineTask, long sinceNanos) {
    try {
      if (!inlineTask.begin(sinceNanos)) {
        return false;
      }
      callerIdle.reset();
      while (!inlineTask.advance()) {
        if (!callerIdle.idle()) {
          inlineTask.giveUp();
          return false;
        }
      }
    } catch (RuntimeException | Error e) {
      crash(e);
    }
    return true;
  }

  @Override
  public long nanos() {
    return ticker.nanos();
  }

  private boolean enter(BooleanSupplier done) {
    for (int tries = 0; !tryEnter(); tries++) {
      if (closed || tries > ENTER_TRIES || done.getAsBoolean()) {
        return false;
      }
      if (tries < 100) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
    return true;
  }

  private void runUntil(BooleanSupplier done, long deadlineNanos) {
    callerIdle.reset();
    while (!closed && !done.getAsBoolean()) {
      long now = ticker.nanos();
      if (now - deadlineNanos >= 0) {
        return;
      }
      if (work(now) > 0) {
        callerIdle.reset();
      } else if (!callerIdle.idle(now)) {
        park(Math.min(PARK_NANOS, deadlineNanos - now), false);
      }
    }
  }

  private void run() {
    try {
      runIdleAgent();
    } catch (RuntimeException | Error e) {
      closed = true;
      enterToEnd();
      try {
        crash(e);
      } finally {
        leave();
      }
    }
  }

  private void runIdleAgent() {
    long rest = REST_NANOS;
    while (!closed) {
      if (callers.get() > 0 || isLeftToCallers()) {
        rest(rest);
        rest = Math.min(2 * rest, LONGEST_REST_NANOS);
      } else if (tryEnter()) {
        rest = REST_NANOS;
        try {
          runUntilCaller();
        } finally {
          leave();
        }
      } else {
        rest(REST_NANOS); // the thread inside wakes it if work remains
      }
    }
  }

  /// Rests at most `nanos`. The next check finds a command that is queued just before.
  private void rest(long nanos) {
    unattended.setOpaque(0);
    resting = true;
    try {
      LockSupport.parkNanos(this, nanos);
    } finally {
      resting = false;
    }
  }

  /// Returns whether a caller has driven the agent recently and no operation or command is pending.
  private boolean isLeftToCallers() {
    return ticker.nanos() - lastDriven.get() < LEFT_TO_CALLERS_NANOS
        && !agent.busy()
        && !agent.hasCommands();
  }

  private int work(long now) {
    lastCycle = now;
    try {
      return scheduled.run(now) + agent.work(now);
    } catch (RuntimeException | Error e) {
      crash(e);
      return 1;
    }
  }

  /// Called inside. Ends the agent, so that waiting threads learn that no thread runs it any more,
  /// even if its own clean-up fails.
  private void crash(Throwable cause) {
    closed = true;
    if (ended) {
      return;
    }
    try {
      LOG.error("{} has died; its operations fail", agent.role(), cause);
      agent.crash(cause);
    } catch (RuntimeException | Error another) {
      LOG.error("{} could not end its operations", agent.role(), another);
    } finally {
      scheduled.end();
      ended = true;
    }
  }

  private void runUntilCaller() {
    ownIdle.reset();
    while (!closed && callers.get() == 0) {
      long now = ticker.nanos();
      if (work(now) > 0) {
        ownIdle.reset();
      } else if (!agent.busy() || !ownIdle.idle(now)) {
        park(PARK_NANOS, true);
      }
    }
  }

  private void park(long nanos, boolean yieldToCallers) {
    parked = true; // volatile: ordered before the checks; pairs with commandQueued and drive
    try {
      if (!closed && !agent.hasCommands() && !(yieldToCallers && callers.get() > 0)) {
        agent.await(Math.max(1, nanos));
      }
    } catch (RuntimeException | Error e) {
      crash(e);
    } finally {
      parked = false;
    }
  }

  /// Waits at most two seconds for the thread.
  @Override
  public void close() {
    if (isInside()) {
      throw new IllegalStateException(
          agent.role()
              + " cannot be closed by a callback, on a thread that runs it, because the call"
              + " would wait for itself; close it on another thread");
    }
    if (closed) {
      return;
    }
    closed = true;
    agent.wake();
    LockSupport.unpark(thread);
    boolean interrupted = false;
    try {
      if (thread.isAlive()) {
        thread.join(2000);
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    enterToEnd();
    try {
      agent.close();
    } finally {
      scheduled.end();
      ended = true;
      leave();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// Enters the agent to close it. The thread inside leaves soon because `closed` is set. The
  /// number of attempts is bounded, in case a callback blocks that thread.
  private void enterToEnd() {
    for (int tries = 0; !tryEnter(); tries++) {
      if (tries == 1_000_000) {
        insider = Thread.currentThread();
        return;
      }
      Thread.yield();
    }
  }
}
