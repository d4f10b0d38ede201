// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;
import java.util.ArrayList;
import java.util.List;
import org.jctools.queues.atomic.MpscChunkedAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Some shards, and what has come for them. It waits in a queue that the channel's bound on open
/// requests bounds, until somebody turns the loop: a thread of its own, or the program. At any time
/// one thread turns it; the others only put into the queue.
public final class ShardLoop {

  private static final Logger LOG = LoggerFactory.getLogger(ShardLoop.class);

  /// Between two looks for requests that are overdue.
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

  /// @param numbers of the shards that it has from the beginning
  /// @param all shards that there are
  /// @param most requests that can be open at once
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

  /// A request of a worker.
  ///
  /// Hot path.
  public void serve(IncomingRequest request, KvHead head) {
    offer(request, new Task.Serve(request, head));
  }

  /// What another server has done to a shard that this one mirrors.
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
    turner.wake();
  }

  /// Nobody waits for this rank any more.
  public void leave(int rank) {
    tell(new Task.Leave(rank), rank);
  }

  /// A server is lost; this one may have to take its place.
  public void lose(int rank) {
    tell(new Task.Lose(rank), rank);
  }

  private void tell(Task task, int rank) {
    if (!tasks.offer(task)) {
      LOG.error("no room to tell shards what has become of rank {}", rank);
    }
    turner.wake();
  }

  /// A process takes the place of a server that was lost.
  ///
  /// @param position of the place in the ring of servers
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

  /// What comes from now on is refused; `close` refuses what waits.
  void end() {
    ended = true;
  }

  /// Whether `end` was called.
  boolean hasEnded() {
    return ended;
  }

  // --- the thread that turns it

  /// Whether there is something to do now.
  boolean isDue() {
    return !tasks.isEmpty() || resumes || ended;
  }

  /// Does at most one thing that waits, and what is done between two requests. Gives 0 where there
  /// was nothing to do.
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

  /// Requests of this process's own worker have no channel that would limit them.
  private void expire() {
    long now = context.mirroring().channel().runner().nanos();
    for (Shard shard : shards) {
      shard.expire(now);
    }
  }

  /// Between two requests, what checkpoints and mirrors need of each shard.
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

  /// What waits fails, and the memory of the shards is given back. Once, after `end`.
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
