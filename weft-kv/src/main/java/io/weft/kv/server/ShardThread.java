// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.AgentRunner;
import io.weft.agent.IdleStrategy;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.atomic.MpscChunkedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that owns some shards. What comes in waits in a queue that the channel's bound on
/// open requests bounds. While it waits it may drive the progress engine.
public final class ShardThread implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ShardThread.class);
  private static final long PARK_NANOS = 100_000_000;

  private final MpscChunkedAtomicArrayQueue<Task> tasks;
  private final Shard[] byNumber;
  private final List<Shard> shards = new ArrayList<>();
  private final Set<Integer> lost = new TreeSet<>();
  private final ShardContext context;
  private final IdleStrategy idle;
  private final ProgressDriver progress;
  private final Thread thread;
  private boolean busy;
  private volatile boolean resumes;
  private volatile boolean parked;
  private volatile boolean ended;

  private sealed interface Task {
    record Serve(IncomingRequest request, KvHead head) implements Task {}

    record Mirror(IncomingRequest request, KvHead head, int worker) implements Task {}

    record Run(Runnable what) implements Task {}

    record Leave(int rank) implements Task {}

    record Lose(int rank) implements Task {}
  }

  /// @param name of the thread
  /// @param numbers of the shards that it has from the beginning
  /// @param all shards that there are
  /// @param most requests that can be open at once
  /// @param idle how it waits
  /// @param runner of the progress engine, for it to drive; null = it does not
  public ShardThread(
      String name,
      List<Integer> numbers,
      int all,
      ShardContext context,
      int most,
      IdleStrategy idle,
      @Nullable AgentRunner runner) {
    this.tasks = new MpscChunkedAtomicArrayQueue<>(1024, Math.max(2048, most));
    this.context = context;
    this.byNumber = new Shard[all];
    for (int number : numbers) {
      var unused = shard(number);
    }
    this.idle = idle;
    this.progress = new ProgressDriver(runner);
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
  }

  /// Begins.
  public void start() {
    thread.start();
  }

  private Shard shard(int number) {
    Shard known = byNumber[number];
    if (known == null) {
      known = new Shard(number, context, this::released, lost, this::onThread);
      byNumber[number] = known;
      shards.add(known);
    }
    return known;
  }

  private void onThread(Runnable what) {
    if (!tasks.offer(new Task.Run(what))) {
      LOG.error("no room to tell a shard that its mirror has answered");
    }
    wake();
  }

  /// A request of a worker. Any thread.
  ///
  /// Hot path.
  public void serve(IncomingRequest request, KvHead head) {
    offer(request, new Task.Serve(request, head));
  }

  /// What another server has done to a shard that this one mirrors. Any thread.
  ///
  /// @param worker position of whose request it was
  public void mirror(IncomingRequest request, KvHead head, int worker) {
    offer(request, new Task.Mirror(request, head, worker));
  }

  private void offer(IncomingRequest request, Task task) {
    if (ended || !tasks.offer(task)) {
      request.fail(
          ended ? "the server has ended" : "more requests are open than this server can have");
      return;
    }
    wake();
  }

  /// Nobody waits for this rank any more. Any thread.
  public void leave(int rank) {
    tell(new Task.Leave(rank), rank);
  }

  /// A server is lost; this one may have to take its place. Any thread.
  public void lose(int rank) {
    tell(new Task.Lose(rank), rank);
  }

  private void tell(Task task, int rank) {
    if (!tasks.offer(task)) {
      LOG.error("no room to tell shards that rank {} has left", rank);
    }
    wake();
  }

  private void released() {
    resumes = true;
    wake();
  }

  private void wake() {
    VarHandle.fullFence(); // the offer before the read of `parked`; pairs with `park`
    if (parked) {
      LockSupport.unpark(thread);
    } else {
      progress.interrupt();
    }
  }

  private void run() {
    while (!ended) {
      Task task = tasks.poll();
      boolean freed = resumes;
      if (freed) {
        resumes = false;
        shards.forEach(Shard::resume);
      }
      if (task != null) {
        run(task);
        idle.reset();
      }
      boolean sliced = busy && slice();
      if (task == null && !freed && !sliced && !progress.drive(this::isDue) && !idle.idle()) {
        park();
      }
    }
    Task left = tasks.poll();
    while (left != null) {
      if (left instanceof Task.Serve(IncomingRequest request, KvHead head)) {
        request.fail("the server has ended");
      } else if (left instanceof Task.Mirror(IncomingRequest request, KvHead head, int worker)) {
        request.fail("the server has ended");
      }
      left = tasks.poll();
    }
    shards.forEach(Shard::close);
  }

  /// Between two requests, what checkpoints and mirrors need of each shard.
  private boolean slice() {
    boolean some = false;
    boolean more = false;
    for (Shard shard : shards) {
      some |= shard.slice();
      more |= shard.isBusy();
    }
    busy = more;
    return some;
  }

  private boolean isDue() {
    return !tasks.isEmpty() || resumes || ended;
  }

  private void park() {
    parked = true;
    if (!isDue()) {
      LockSupport.parkNanos(this, PARK_NANOS);
    }
    parked = false;
    idle.reset();
  }

  private void run(Task task) {
    try {
      switch (task) {
        case Task.Serve(IncomingRequest request, KvHead head) -> {
          progress.begin(request, !tasks.isEmpty());
          Shard shard = shard(head.shard());
          shard.serve(request, head);
          busy |= shard.isBusy();
        }
        case Task.Mirror(IncomingRequest request, KvHead head, int worker) ->
            shard(head.shard()).mirror(request, head, worker);
        case Task.Run(Runnable what) -> what.run();
        case Task.Leave(int rank) -> {
          shards.forEach(it -> it.leave(rank));
          busy = true;
        }
        case Task.Lose(int rank) -> {
          lost.add(rank);
          shards.forEach(it -> it.lose(rank));
          busy = true;
        }
      }
    } catch (RuntimeException | Error defect) {
      LOG.error("a shard's thread goes on after a defect", defect);
    }
  }

  /// Ends it; what is not answered fails. Waits for it at most ten seconds.
  @Override
  public void close() {
    ended = true;
    LockSupport.unpark(thread);
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
