// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.agent.Agent;
import io.weft.agent.AgentRunner;
import io.weft.agent.ScheduledTasks;
import io.weft.testkit.sim.clock.ScheduledEvent;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// An agent runner in virtual time. The agent runs a duty cycle after an arrival or submission,
/// again at once while it finds work, and every few milliseconds while it is idle.
final class SimAgentRunner extends ScheduledEvent implements AgentRunner {

  private final SimProcess process;
  private final Agent agent;
  private final ScheduledTasks scheduled;
  private @Nullable BooleanSupplier awaited;
  private @Nullable Throwable defect;
  private boolean started;
  private boolean inside;
  private boolean runsLeft;
  private boolean closed;
  private boolean ended;

  SimAgentRunner(SimProcess process, Agent agent) {
    this.process = process;
    this.agent = agent;
    this.scheduled = new ScheduledTasks(process.nanos());
  }

  Agent agent() {
    return agent;
  }

  /// Returns the error that the agent died of; null if it has not died.
  @Nullable Throwable defect() {
    return defect;
  }

  @Override
  public void start() {
    started = true;
    runBy(process.events().now());
  }

  @Override
  public void commandQueued() {
    if (started) {
      runBy(process.events().now());
    } else {
      process.simThread().resumeAt(process.events().now());
    }
  }

  @Override
  public boolean isInside() {
    return inside;
  }

  @Override
  public boolean schedule(long atNanos, Runnable task) {
    return scheduled.add(atNanos, task);
  }

  @Override
  public void runLeft(Runnable left) {
    if (!runsLeft) {
      boolean before = inside;
      runsLeft = true;
      inside = true;
      try {
        left.run();
      } finally {
        inside = before;
        runsLeft = false;
      }
    }
  }

  @Override
  public boolean isEnded() {
    return ended;
  }

  @Override
  public long nanos() {
    return process.nanos();
  }

  /// Schedules the next duty cycle for this time, or for the later time when the processor is free.
  void runBy(long nanos) {
    if (started && !closed) {
      process.events().notAfter(Math.max(nanos, process.freeNanos()), this);
    }
  }

  @Override
  protected void happen() {
    if (closed) {
      return;
    }
    long free = process.freeNanos();
    if (free > process.events().now()) {
      process.events().at(free, this);
      return;
    }
    process.works();
    int work = cycle();
    runBy(work > 0 ? process.busyUntil() : process.events().now() + process.idleNanos());
    BooleanSupplier done = awaited;
    if (done != null && (closed || done.getAsBoolean())) {
      process.simThread().resumeAt(process.busyUntil());
    }
  }

  private int cycle() {
    inside = true;
    try {
      return scheduled.run(process.nanos()) + agent.work(process.nanos());
    } catch (RuntimeException | Error e) {
      defect = e;
      closed = true;
      agent.crash(e);
      scheduled.end();
      ended = true;
      return 1;
    } finally {
      inside = false;
    }
  }

  @Override
  public boolean drive(BooleanSupplier done, long deadlineNanos) {
    if (started) {
      runBy(process.events().now());
      boolean unused = await(done, deadlineNanos);
    } else {
      driveByProgram(done, deadlineNanos);
    }
    return !closed;
  }

  /// Runs an agent without a thread of its own on the program's thread.
  private void driveByProgram(BooleanSupplier done, long deadlineNanos) {
    process.requireOwnThread();
    while (!closed && !done.getAsBoolean() && deadlineNanos - process.nanos() > 0) {
      if (cycle() == 0) {
        long idle = process.events().now() + process.idleNanos();
        process.block(Math.min(idle, process.moment(deadlineNanos)));
      }
    }
  }

  @Override
  public boolean await(BooleanSupplier done, long deadlineNanos) {
    process.requireOwnThread();
    awaited = done;
    try {
      while (!closed && !done.getAsBoolean() && deadlineNanos - process.nanos() > 0) {
        process.block(process.moment(deadlineNanos));
      }
    } finally {
      awaited = null;
    }
    return done.getAsBoolean();
  }

  @Override
  public void close() {
    if (!closed) {
      halt();
      process.forget(this);
      process.requireOwnThread();
      agent.close();
      scheduled.end();
      ended = true;
    }
  }

  /// Stops the duty cycles and does not close the agent.
  void halt() {
    closed = true;
    process.events().cancel(this);
  }
}
