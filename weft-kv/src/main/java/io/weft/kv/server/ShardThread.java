// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.AgentRunner;
import io.weft.agent.IdleStrategy;
import io.weft.cluster.channel.IncomingRequest;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The thread that owns some shards. While it waits it may drive the progress engine.
public final class ShardThread implements ShardTurns {

  private static final long PARK_NANOS = 100_000_000;

  private final ShardLoop loop;
  private final IdleStrategy idle;
  private final ProgressDriver progress;
  private final Thread thread;
  private volatile boolean parked;

  private final class Turner implements ShardTurner {
    @Override
    public void wake() {
      VarHandle.fullFence(); // the offer before the read of `parked`; pairs with `park`
      if (parked) {
        LockSupport.unpark(thread);
      } else {
        progress.interrupt();
      }
    }

    @Override
    public void begin(IncomingRequest request, boolean more) {
      progress.begin(request, more);
    }
  }

  /// @param name of the thread
  /// @param numbers of the initial shards
  /// @param all the number of shards on all servers
  /// @param most the maximum number of open requests
  /// @param idle how it waits
  /// @param runner of the progress engine, which this thread drives; null if it does not
  public ShardThread(
      String name,
      List<Integer> numbers,
      int all,
      ShardContext context,
      int most,
      IdleStrategy idle,
      @Nullable AgentRunner runner) {
    this.idle = idle;
    this.progress = new ProgressDriver(runner);
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    this.loop = new ShardLoop(numbers, all, context, most, new Turner());
  }

  /// Starts the thread.
  public void start() {
    thread.start();
  }

  @Override
  public ShardLoop loop() {
    return loop;
  }

  private void run() {
    while (!loop.hasEnded()) {
      if (loop.doWork() > 0) {
        idle.reset();
      } else if (!progress.drive(loop::isDue) && !idle.idle()) {
        park();
      }
    }
    loop.close();
  }

  private void park() {
    parked = true;
    if (!loop.isDue()) {
      LockSupport.parkNanos(this, PARK_NANOS);
    }
    parked = false;
    idle.reset();
  }

  /// Ends the thread and waits for it, at most ten seconds.
  @Override
  public void close() {
    loop.end();
    LockSupport.unpark(thread);
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
