// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;
import java.util.ArrayList;
import java.util.List;
import org.jctools.queues.atomic.MpscChunkedAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The duty cycle of several shards, and the queue of their tasks. The channel's bound on open
/// requests bounds the queue. A separate thread, or a thread of the program, runs the loop. Only
/// one thread runs it at any time; all others only add to the queue.
public final class ShardLoop {

  private static final Logger LOG = LoggerFactory.getLogger(ShardLoop.class);

  /// The number of tasks between two checks for overdue requests.
  private static final int MOST_WITHOUT_LOOK = 64;

  private final MpscChunkedAtomicArrayQueue<Task> tasks;
  private final Shard[] byNumber;
  private final List<Shard> shards = new ArrayList<>();
  private final ServerNews news = new ServerNews();
  private final ShardContext context;
  private final ShardTurner turner;
  private final boolean servesItself;
  private int sinceLooked;
  private boolean busy;
  private volatile boolean resumes;
  private volatile boolean ended;

  private sealed interface Task {
    record Serve(IncomingRequest request, KvHead head) implements Task {}

    record Mirror(IncomingRequest request, KvHead head, int worker) implements Task {}

    record Run(Runnable what) implements Task {}

    record Leave(int rank) implements Task {}

    record Lose(int rank) implements Task {}

    record Return(int position, int rank) implements Task {}
  }

  /// @param numbers of the initial shards
  /// @param all the number of shards on all servers
  /// @param most the maximum number of open requests
  ShardLoop(List<Integer> numbers, int all, ShardContext context, int most, ShardTurner turner) {
    this.tasks = new MpscChunkedAtomicArrayQueue<>(1024, Math.max(2048, most));
    this.context = context;
    this.turner = turner;
    this.servesItself = context.workers().contains(context.rank());
    this.byNumber = new Shard[all];
    for (int number : numbers) {
      var unused = shard(number);
    }
  }

  private Shard shard(int number) {
    Shard known = byNumber[number];
    if (known == null) {
      known = new Shard(number, context, this::released, news, this::onThread);
      byNumber[number] = known;
      shards.add(known);
    }
    return known;
  }

  // --- any thread

  /// Queues a request of a worker.
  ///
  /// Hot path.
  public void serve(IncomingRequest request, KvHead head) {
    offer(request, new Task.Serve(request, head));
  }

  /// Queues an operation that another server has executed on a shard that this server mirrors.
  ///
  /// @param worker position of the worker of the request
  public void mirror(IncomingRequest request, KvHead head, int worker) {
    offer(request, new Task.Mirror(request, head, worker));
  }

  private void offer(IncomingRequest request, Task task) {
    if (ended || !tasks.offer(task)) {
      request.fail(
          ended ? "the server has ended" : "more requests are open than this server can have");
      return;
    }
    turner.wake();
  }

  /// Queues the notification that a rank has left.
  public void leave(int rank) {
    tell(new Task.Leave(rank), rank);
  }

  /// Queues the notification that a server is lost, whose place this server may have to take.
  public void lose(int rank) {
    tell(new Task.Lose(rank), rank);
  }

  private void tell(Task task, int rank) {
    if (!tasks.offer(task)) {
      LOG.error("no room to tell shards of the leave, loss or return of rank {}", rank);
    }
    turner.wake();
  }

  /// Queues the notification that a process takes the place of a lost server.
  ///
  /// @param position of the place in the replica set
  public void returned(int position, int rank) {
    tell(new Task.Return(position, rank), rank);
  }

  private void onThread(Runnable what) {
    if (!tasks.offer(new Task.Run(what))) {
      LOG.error("no room to tell a shard that its mirror has answered");
    }
    turner.wake();
  }

  private void released() {
    resumes = true;
    turner.wake();
  }

  /// Refuses all later requests. `close` fails the waiting ones.
  void end() {
    ended = true;
  }

  /// Returns whether `end` was called.
  boolean hasEnded() {
    return ended;
  }

  // --- the thread that runs the loop

  /// Returns whether there is work to do.
  boolean isDue() {
    return !tasks.isEmpty() || resumes || ended;
  }

  /// Executes at most one task, and the work between two requests. Returns 0 if there was nothing
  /// to do.
  int doWork() {
    Task task = tasks.poll();
    boolean freed = resumes;
    if (freed) {
      resumes = false;
      shards.forEach(Shard::resume);
    }
    if (task != null) {
      run(task);
    }
    if (servesItself && (task == null || ++sinceLooked > MOST_WITHOUT_LOOK)) {
      sinceLooked = 0;
      expire();
    }
    boolean sliced = busy && slice();
    return (task != null ? 1 : 0) + (freed ? 1 : 0) + (sliced ? 1 : 0);
  }

  /// Fails overdue requests of this process's own worker, because no channel limits their time.
  private void expire() {
    long now = context.mirroring().channel().runner().nanos();
    for (Shard shard : shards) {
      shard.expire(now);
    }
  }

  /// Advances checkpoints and mirrors of each shard between two requests.
  private boolean slice() {
    boolean some = false;
    boolean more = false;
    for (Shard shard : shards) {
      try {
        some |= shard.slice();
        more |= shard.isBusy();
      } catch (RuntimeException | Error defect) {
        LOG.error("a server goes on after a defect of a shard between requests", defect);
      }
    }
    busy = more;
    return some;
  }

  private void run(Task task) {
    try {
      switch (task) {
        case Task.Serve(IncomingRequest request, KvHead head) -> {
          turner.begin(request, !tasks.isEmpty());
          Shard shard = shard(head.shard());
          shard.serve(request, head);
          busy |= shard.isBusy();
        }
        case Task.Mirror(IncomingRequest request, KvHead head, int worker) -> {
          Shard shard = shard(head.shard());
          shard.mirror(request, head, worker);
          busy |= shard.isBusy();
        }
        case Task.Run(Runnable what) -> what.run();
        case Task.Leave(int rank) -> {
          shards.forEach(it -> it.leave(rank));
          busy = true;
        }
        case Task.Lose(int rank) -> {
          news.lost().add(rank);
          shards.forEach(it -> it.lose(rank));
          busy = true;
        }
        case Task.Return(int position, int rank) -> {
          news.returned().put(position, rank);
          shards.forEach(it -> it.returned(position, rank));
          busy = true;
        }
      }
    } catch (RuntimeException | Error defect) {
      LOG.error("a server goes on after a defect of a shard", defect);
    }
  }

  /// Fails the waiting requests and frees the memory of the shards. Called once, after `end`.
  void close() {
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
}
