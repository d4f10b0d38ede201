// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// All shards of a server, served by a thread of the program, for embedding and for simulations
/// without other threads. While it waits it drives the progress engine.
public final class ProgramTurns implements ShardTurns {

  /// The longest single wait while another thread drives the engine.
  private static final long PARK_NANOS = 1_000_000;

  private final ShardLoop loop;
  private final AgentRunner runner;
  private volatile @Nullable Thread waiter;

  private final class Turner implements ShardTurner {
    @Override
    public void wake() {
      Thread waits = waiter;
      if (waits != null && !runner.isInside()) {
        LockSupport.unpark(waits);
        runner.commandQueued();
      }
    }

    @Override
    public void begin(IncomingRequest request, boolean more) {}
  }

  /// @param numbers of the initial shards
  /// @param all the number of shards on all servers
  /// @param most the maximum number of open requests
  /// @param runner of the progress engine
  public ProgramTurns(
      List<Integer> numbers, int all, ShardContext context, int most, AgentRunner runner) {
    this.runner = runner;
    this.loop = new ShardLoop(numbers, all, context, most, new Turner());
  }

  /// Executes one request after a wait of at most `limit`. Returns whether there was one. One
  /// thread at a time.
  public boolean turn(Duration limit) throws InterruptedException {
    if (loop.doWork() > 0) {
      return true;
    }
    long end = runner.nanos() + ClampedDuration.nanos(limit);
    waiter = Thread.currentThread();
    try {
      while (!loop.isDue() && runner.nanos() - end < 0 && !runner.isEnded()) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (!runner.drive(loop::isDue, end) && !runner.isEnded()) {
          LockSupport.parkNanos(this, PARK_NANOS);
        }
      }
    } finally {
      waiter = null;
    }
    return loop.doWork() > 0;
  }

  @Override
  public ShardLoop loop() {
    return loop;
  }

  /// Called on the thread that serves the shards, or when no thread does any more.
  @Override
  public void close() {
    if (!loop.hasEnded()) {
      loop.end();
      loop.close();
    }
  }
}
