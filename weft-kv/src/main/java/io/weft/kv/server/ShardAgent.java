// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.Agent;
import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.jctools.queues.atomic.MpscChunkedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The duty cycle of several shards, and the queue of their tasks. The channel's bound on open
/// requests bounds the queue. Its runner executes it, on a thread of its own or on a thread of the
/// program; all other threads only add to the queue. The thread of the first duty cycle owns the
/// tables and frees them.
public final class ShardAgent implements Agent {

  private static final Logger LOG = LoggerFactory.getLogger(ShardAgent.class);

  /// The number of tasks between two checks for overdue requests.
  private static final int MOST_WITHOUT_LOOK = 64;

  private final String role;
  private final MpscChunkedAtomicArrayQueue<Task> tasks;
  private final Shard[] byNumber;
  private final List<Shard> shards = new ArrayList<>();
  private final ServerChanges news = new ServerChanges();
  private final ShardContext context;
  private final TaskWait wait;
  private final boolean servesItself;
  private Runnable wake = () -> {};
  private int sinceLooked;
  private long executed;
  private boolean slicing;
  private volatile boolean resumes;
  private volatile boolean ended;
  private volatile boolean closed;
  private volatile @Nullable Thread owner;

  /// A request, or a notification of all shards.
  sealed interface Task permits Pending, Task.Run, Task.Leave, Task.Lose, Task.Return {
    record Run(Runnable what) implements Task {}

    record Leave(int rank) implements Task {}

    record Lose(int rank) implements Task {}

    record Return(int position, int rank) implements Task {}
  }

  /// @param role the name of its thread
  /// @param numbers of the initial shards
  /// @param most the maximum number of open requests
  public ShardAgent(
      String role, List<Integer> numbers, int most, ShardContext context, TaskWait wait) {
    this.role = role;
    this.tasks = new MpscChunkedAtomicArrayQueue<>(1024, Math.max(2048, most));
    this.context = context;
    this.wait = wait;
    this.servesItself = context.workers().contains(context.rank());
    this.byNumber = new Shard[context.shards()];
    for (int number : numbers) {
      var unused = shard(number);
    }
  }

  /// Sets the runner, which is notified of each queued task. Called once, before the first task.
  public void runBy(AgentRunner runner) {
    wake = runner::commandQueued;
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
    int worker = context.worker(request.fromRank());
    offer(new Pending(request, head, worker, context.states().events().of(request, head)));
  }

  /// Queues an operation that another server has executed on a shard that this server mirrors.
  ///
  /// @param worker position of the worker of the request
  public void mirror(IncomingRequest request, KvHead head, int worker) {
    offer(new Pending(request, head, worker, null));
  }

  private void offer(Pending request) {
    if (ended || !tasks.offer(request)) {
      request.fail(
          ended ? "the server has ended" : "more requests are open than this server can have");
      return;
    }
    queued();
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
    queued();
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
    queued();
  }

  private void released() {
    resumes = true;
    queued();
  }

  private void queued() {
    VarHandle.fullFence(); // the offer before the runner's read of its state; pairs with its park
    wake.run();
  }

  /// Refuses all later requests. The next duty cycle fails the waiting ones and frees the tables.
  public void end() {
    ended = true;
    wake.run();
  }

  /// Returns whether the tables are freed.
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void wake() {
    wait.wake();
  }

  @Override
  public String role() {
    return role;
  }

  /// Returns whether the thread should spin before it waits.
  @Override
  public boolean busy() {
    return !wait.drives();
  }

  @Override
  public boolean hasCommands() {
    return !tasks.isEmpty() || resumes || (ended && !closed);
  }

  // --- the thread that runs the agent

  /// Returns the number of executed tasks.
  public long executed() {
    return executed;
  }

  @Override
  public void await(long maxNanos) {
    wait.await(this::hasCommands, maxNanos);
  }

  /// Executes at most one task, and the work between two requests.
  @Override
  public int work(long nowNanos) {
    if (owner == null) {
      owner = Thread.currentThread();
    }
    int done = ended ? 0 : execute(nowNanos);
    if (ended && !closed) {
      free();
    }
    return done;
  }

  private int execute(long nowNanos) {
    Task task = tasks.poll();
    boolean freed = resumes;
    if (freed) {
      resumes = false;
      shards.forEach(Shard::resume);
    }
    if (task != null) {
      executed++;
      run(task, nowNanos);
    }
    if (servesItself && (task == null || ++sinceLooked > MOST_WITHOUT_LOOK)) {
      sinceLooked = 0;
      shards.forEach(it -> it.expire(nowNanos));
    }
    boolean sliced = slicing && slice();
    return (task != null ? 1 : 0) + (freed ? 1 : 0) + (sliced ? 1 : 0);
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
    slicing = more;
    return some;
  }

  private void run(Task task, long nowNanos) {
    try {
      switch (task) {
        case Pending request -> {
          Shard shard = shard(request.head().shard());
          if (request.isForwarded()) {
            shard.mirror(request);
          } else {
            wait.begin(request, !tasks.isEmpty(), nowNanos);
            shard.serve(request);
          }
          slicing |= shard.isBusy();
        }
        case Task.Run(Runnable what) -> what.run();
        case Task.Leave(int rank) -> {
          shards.forEach(it -> it.leave(rank));
          slicing = true;
        }
        case Task.Lose(int rank) -> {
          news.lost().add(rank);
          shards.forEach(it -> it.lose(rank));
          slicing = true;
        }
        case Task.Return(int position, int rank) -> {
          news.returned().put(position, rank);
          shards.forEach(it -> it.returned(position, rank));
          slicing = true;
        }
      }
    } catch (RuntimeException | Error defect) {
      LOG.error("a server goes on after a defect of a shard", defect);
    }
  }

  private void free() {
    Task left = tasks.poll();
    while (left != null) {
      if (left instanceof Pending request) {
        request.fail("the server has ended");
      }
      left = tasks.poll();
    }
    shards.forEach(Shard::close);
    closed = true;
  }

  @Override
  public void crash(Throwable cause) {
    close();
  }

  /// Ends the agent. Another thread than the owner leaves the tables to the owner's current duty
  /// cycle.
  @Override
  public void close() {
    ended = true;
    Thread its = owner;
    if (!closed && (its == null || its == Thread.currentThread())) {
      free();
    }
  }
}
