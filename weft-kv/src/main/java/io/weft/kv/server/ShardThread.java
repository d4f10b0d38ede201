// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.IdleStrategy;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.atomic.MpscChunkedAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that owns some shards. What comes in waits in a queue that the channel's bound on
/// open requests bounds.
public final class ShardThread implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ShardThread.class);
  private static final long PARK_NANOS = 100_000_000;

  private final MpscChunkedAtomicArrayQueue<Task> tasks;
  private final List<Shard> shards;
  private final IdleStrategy idle;
  private final Thread thread;
  private boolean saving;
  private volatile boolean resumes;
  private volatile boolean parked;
  private volatile boolean ended;

  private sealed interface Task {
    record Serve(IncomingRequest request, KvHead head, Shard shard) implements Task {}

    record Leave(int rank) implements Task {}
  }

  /// @param name of the thread
  /// @param numbers of its shards
  /// @param most requests that can be open at once
  /// @param idle how it waits
  public ShardThread(
      String name, List<Integer> numbers, ShardContext context, int most, IdleStrategy idle) {
    this.tasks = new MpscChunkedAtomicArrayQueue<>(1024, Math.max(2048, most));
    this.shards = numbers.stream().map(it -> new Shard(it, context, this::released)).toList();
    this.idle = idle;
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
  }

  /// Begins.
  public void start() {
    thread.start();
  }

  /// A request for the shard at this position. Any thread.
  ///
  /// Hot path.
  public void serve(IncomingRequest request, KvHead head, int position) {
    if (ended || !tasks.offer(new Task.Serve(request, head, shards.get(position)))) {
      request.fail(
          ended ? "the server has ended" : "more requests are open than this server can have");
      return;
    }
    wake();
  }

  /// Nobody waits for this rank any more. Any thread.
  public void leave(int rank) {
    if (!tasks.offer(new Task.Leave(rank))) {
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
      boolean saved = saving && save();
      if (task == null && !freed && !saved && !idle.idle()) {
        park();
      }
    }
    Task left = tasks.poll();
    while (left != null) {
      if (left instanceof Task.Serve(IncomingRequest request, KvHead head, Shard shard)) {
        request.fail("the server has ended");
      }
      left = tasks.poll();
    }
    shards.forEach(Shard::close);
  }

  /// Between two requests, what a checkpoint needs of each shard.
  private boolean save() {
    boolean some = false;
    boolean more = false;
    for (Shard shard : shards) {
      some |= shard.save();
      more |= shard.isSaving();
    }
    saving = more;
    return some;
  }

  private void park() {
    parked = true;
    if (tasks.isEmpty() && !resumes && !ended) {
      LockSupport.parkNanos(this, PARK_NANOS);
    }
    parked = false;
    idle.reset();
  }

  private void run(Task task) {
    try {
      switch (task) {
        case Task.Serve(IncomingRequest request, KvHead head, Shard shard) -> {
          shard.serve(request, head);
          saving |= shard.isSaving();
        }
        case Task.Leave(int rank) -> {
          shards.forEach(it -> it.leave(rank));
          saving = true;
        }
      }
    } catch (RuntimeException | Error defect) {
      LOG.error("a shard's thread goes on after a defect", defect);
    }
  }

  /// Ends it; what is not answered fails. Waits for it a second.
  @Override
  public void close() {
    ended = true;
    LockSupport.unpark(thread);
    try {
      thread.join(1000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
