// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The tasks that an agent runner runs at given moments of its clock, in order of time. Any thread
/// adds tasks; the thread inside the agent runs them.
public final class ScheduledTasks {

  private static final Logger LOG = LoggerFactory.getLogger(ScheduledTasks.class);

  private final PriorityQueue<Task> waiting =
      new PriorityQueue<>(Comparator.comparingLong(Task::nanos).thenComparingLong(Task::number));

  private final long base;
  private long added;
  private volatile long next = Long.MAX_VALUE;
  private boolean ended;

  /// @param nanos counted from the creation, so that a clock may begin anywhere
  private record Task(long nanos, long number, Runnable what) {}

  /// @param nowNanos the moment of the creation
  public ScheduledTasks(long nowNanos) {
    base = nowNanos;
  }

  /// Adds a task for this moment. Returns false after `end`; the task then never runs.
  public synchronized boolean add(long atNanos, Runnable task) {
    Objects.requireNonNull(task, "task");
    if (ended) {
      return false;
    }
    waiting.add(new Task(Math.max(0, atNanos - base), added++, task));
    next = waiting.element().nanos();
    return true;
  }

  /// Runs the tasks that are due. Returns their number.
  ///
  /// Hot path, except for the tasks.
  public int run(long nowNanos) {
    if (nowNanos - base < next) {
      return 0;
    }
    int ran = 0;
    Runnable due = poll(nowNanos - base);
    while (due != null) {
      run(due);
      ran++;
      due = poll(nowNanos - base);
    }
    return ran;
  }

  /// Runs the remaining tasks, because their moments never come. Called once, inside the agent.
  public void end() {
    synchronized (this) {
      ended = true;
    }
    Runnable left = poll(Long.MAX_VALUE);
    while (left != null) {
      run(left);
      left = poll(Long.MAX_VALUE);
    }
  }

  private synchronized @Nullable Runnable poll(long elapsed) {
    Task first = waiting.peek();
    if (first == null || first.nanos() > elapsed) {
      next = first == null ? Long.MAX_VALUE : first.nanos();
      return null;
    }
    var unused = waiting.poll();
    return first.what();
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error thrown) {
      LOG.error("a scheduled task threw; it must not", thrown);
    }
  }
}
