// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.testkit.sim.clock.ScheduledEvent;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/// An executor of a simulated process. Each task takes a duty cycle of the process's processor, and
/// no task runs after the process has died.
final class SimExecutor extends AbstractExecutorService {

  private final SimProcess process;
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final Next next = new Next();
  private boolean shutDown;

  private final class Next extends ScheduledEvent {
    @Override
    protected void happen() {
      if (process.isDead() || tasks.isEmpty()) {
        return;
      }
      if (process.freeNanos() <= process.events().now()) {
        process.works();
        tasks.remove().run();
      }
      schedule();
    }
  }

  SimExecutor(SimProcess process) {
    this.process = process;
  }

  private void schedule() {
    if (!tasks.isEmpty()) {
      process.events().notAfter(Math.max(process.events().now(), process.freeNanos()), next);
    }
  }

  @Override
  public void execute(Runnable task) {
    if (shutDown) {
      throw new RejectedExecutionException("the executor of " + process + " is shut down");
    }
    tasks.add(task);
    schedule();
  }

  @Override
  public void shutdown() {
    shutDown = true;
  }

  @Override
  public List<Runnable> shutdownNow() {
    shutDown = true;
    List<Runnable> left = List.copyOf(tasks);
    tasks.clear();
    return left;
  }

  @Override
  public boolean isShutdown() {
    return shutDown;
  }

  @Override
  public boolean isTerminated() {
    return shutDown && tasks.isEmpty();
  }

  /// Does not wait: the remaining tasks run in later events.
  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return isTerminated();
  }
}
