// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ThreadAgentRunnerTest {

  /// An agent that runs queued commands and records whether two threads are ever inside it.
  private static class Counter implements Agent {
    final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
    final AtomicInteger inside = new AtomicInteger();
    final AtomicInteger collisions = new AtomicInteger();
    final CountDownLatch closed = new CountDownLatch(1);
    final CountDownLatch crashed = new CountDownLatch(1);
    private volatile Thread waiter;

    @Override
    public String role() {
      return "test-progress";
    }

    @Override
    public int work(long nowNanos) {
      if (inside.incrementAndGet() > 1) {
        collisions.incrementAndGet();
      }
      int done = 0;
      for (Runnable r = commands.poll(); r != null; r = commands.poll()) {
        r.run();
        done++;
      }
      inside.decrementAndGet();
      return done;
    }

    @Override
    public void await(long maxNanos) {
      waiter = Thread.currentThread();
      LockSupport.parkNanos(maxNanos);
      waiter = null;
    }

    @Override
    public void wake() {
      LockSupport.unpark(waiter);
    }

    @Override
    public boolean busy() {
      return false;
    }

    @Override
    public boolean hasCommands() {
      return !commands.isEmpty();
    }

    @Override
    public void crash(Throwable cause) {
      crashed.countDown();
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }

  private static AgentRunner runner(Counter agent) {
    return AgentRunners.THREADS.runner(
        agent,
        IdleStrategy.of(Ticker.SYSTEM, 1_000, 10),
        IdleStrategy.of(Ticker.SYSTEM, 10_000, 10));
  }

  @Test
  void aCommandIsTakenByTheRunnersThread() throws InterruptedException {
    Counter agent = new Counter();
    try (AgentRunner runner = runner(agent)) {
      runner.start();
      CountDownLatch ran = new CountDownLatch(1);
      agent.commands.add(ran::countDown);
      runner.commandQueued();
      assertThat(ran.await(5, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(agent.closed.getCount()).isZero();
  }

  @Test
  void commandsWithoutAWaiterRunAfterCallersStopDriving() throws InterruptedException {
    Counter agent = new Counter();
    try (AgentRunner runner = runner(agent)) {
      runner.start();
      for (int many = 0; many < 3; many++) {
        callOften(agent, runner);
        CountDownLatch ran = new CountDownLatch(1 + many);
        for (int i = 0; i <= many; i++) {
          agent.commands.add(ran::countDown);
          runner.commandQueued();
        }
        assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  @Test
  void concurrentCallersNeverEnterTheAgentTogether() throws InterruptedException {
    Counter agent = new Counter();
    try (AgentRunner runner = runner(agent)) {
      runner.start();
      Thread[] callers = new Thread[4];
      for (int i = 0; i < callers.length; i++) {
        callers[i] = Thread.ofPlatform().start(() -> callOften(agent, runner));
      }
      for (Thread caller : callers) {
        caller.join();
      }
      assertThat(agent.collisions).hasValue(0);
    }
  }

  private static void callOften(Counter agent, AgentRunner runner) {
    for (int i = 0; i < 2000; i++) {
      AtomicInteger done = new AtomicInteger();
      agent.commands.add(done::incrementAndGet);
      runner.commandQueued();
      while (done.get() == 0) {
        var unused = runner.drive(() -> done.get() > 0, runner.nanos() + 1_000_000);
      }
    }
  }

  @Test
  void anAgentThatThrowsIsCrashed() throws InterruptedException {
    Counter agent = new Counter();
    try (AgentRunner runner = runner(agent)) {
      runner.start();
      agent.commands.add(
          () -> {
            throw new IllegalStateException("a defect");
          });
      runner.commandQueued();
      assertThat(agent.crashed.await(5, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void anAgentThatCannotWaitIsCrashed() throws InterruptedException {
    Counter agent =
        new Counter() {
          @Override
          public void await(long maxNanos) {
            throw new StackOverflowError();
          }
        };
    try (AgentRunner runner = runner(agent)) {
      runner.start();
      assertThat(agent.crashed.await(5, TimeUnit.SECONDS)).isTrue();
      waitUntilOver(runner);
    }
  }

  @Test
  void aRunnerEndsEvenIfTheAgentThrowsFromCrash() throws InterruptedException {
    Counter agent =
        new Counter() {
          @Override
          public void crash(Throwable cause) {
            super.crash(cause);
            throw new IllegalStateException("another defect");
          }
        };
    try (AgentRunner runner = runner(agent)) {
      runner.start();
      agent.commands.add(
          () -> {
            throw new AssertionError("a defect");
          });
      while (agent.crashed.getCount() > 0) {
        var unused = runner.drive(() -> false, runner.nanos() + 1_000_000);
      }
      waitUntilOver(runner);
      assertThat(runner.drive(() -> false, Long.MAX_VALUE)).as("somebody runs it").isFalse();
    }
  }

  private static void waitUntilOver(AgentRunner runner) {
    while (!runner.isEnded()) { // the test's time-out ends this
      Thread.onSpinWait();
    }
  }

  private static boolean isRefused(Runnable closing) {
    try {
      closing.run();
      return false;
    } catch (IllegalStateException refusal) {
      return true;
    }
  }

  @Test
  void everyThreadThatRunsTheAgentIsInsideAndCannotClose() throws InterruptedException {
    Counter agent = new Counter();
    try (AgentRunner runner = runner(agent)) {
      runner.start();
      for (int i = 0; i < 200; i++) {
        AtomicInteger inside = new AtomicInteger(-1);
        AtomicInteger refused = new AtomicInteger();
        agent.commands.add(
            () -> {
              if (isRefused(runner::close)) {
                refused.incrementAndGet();
              }
              inside.set(runner.isInside() ? 1 : 0);
            });
        runner.commandQueued();
        while (inside.get() < 0) {
          if (i % 2 == 0) {
            var unused = runner.drive(() -> inside.get() >= 0, runner.nanos() + 1_000_000);
          }
        }
        assertThat(inside).hasValue(1);
        assertThat(refused).hasValue(1);
        assertThat(runner.isInside()).isFalse();
      }
    }
  }

  @Test
  void aCallerStopsDrivingAtItsDeadline() {
    try (AgentRunner runner = runner(new Counter())) {
      runner.start();
      long start = runner.nanos();
      while (runner.nanos() - start < 5_000_000) {
        var unused = runner.drive(() -> false, start + 5_000_000);
      }
      assertThat(runner.nanos() - start).isLessThan(5_000_000_000L);
    }
  }
}
