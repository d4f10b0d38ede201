// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.Weft;
import io.weft.agent.AgentConfig;
import io.weft.agent.AgentRunner;
import io.weft.agent.IdleStrategy;
import io.weft.cluster.channel.ChannelLane;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestHandler;
import io.weft.cluster.elastic.ElasticConfig;
import io.weft.cluster.elastic.OnFailure;
import io.weft.comm.CommException;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.Mirroring;
import io.weft.kv.server.ReplicasNotice;
import io.weft.kv.server.ReplyMemory;
import io.weft.kv.server.SavedFiles;
import io.weft.kv.server.ServerEvents;
import io.weft.kv.server.ShardAgent;
import io.weft.kv.server.ShardContext;
import io.weft.kv.server.ShardFunctions;
import io.weft.kv.server.ShardStates;
import io.weft.kv.server.Spills;
import io.weft.kv.server.TaskWait;
import io.weft.kv.table.MemoryBudget;
import io.weft.kv.worker.WorkerLinks;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The server side of a parameter server on this rank. It serves this rank's shards. Each shard is
/// owned by one server thread, or the program's thread serves all shards. `KvNode.open` creates it.
/// Any thread.
public final class KvServer implements AutoCloseable {

  /// The thread that runs the duty cycles of the shards.
  public enum RunBy {
    /// The server's `kv-threads` threads.
    THREADS,
    /// A program thread, during `work` and `join`. The server then starts no shard threads.
    PROGRAM
  }

  private static final Logger LOG = LoggerFactory.getLogger(KvServer.class);
  private static final int NO_WORKER = -1;
  private static final long LOOK_NANOS = 10_000_000;

  /// The shortest time for which `work` runs the shards.
  private static final long LEAST_WORK_NANOS = 100_000;

  /// The time for which `close` waits for a running function.
  private static final long CLOSE_NANOS = 10_000_000_000L;

  /// The shortest function run, in nanoseconds, that is reported as the cause of a wait.
  private static final long SHORT_NANOS = 100_000_000;

  private final Layout layout;
  private final Set<Integer> workersHere;

  /// The lanes on which a rank is not gone yet, by rank.
  private final Map<Integer, Set<Integer>> lanesLeft = new ConcurrentHashMap<>();

  private final RunBy runBy;

  /// The shards' agents and their runners, by thread.
  private final List<ShardAgent> agents = new ArrayList<>();

  private final List<AgentRunner> runners = new ArrayList<>();
  private final AgentRunner runner;
  private final ExecutorService files;
  private final CommandAnswers commands;
  private final Spills spills;
  private final int self;

  /// The initial servers and the replacements of lost servers.
  private final Set<Integer> servers = new ConcurrentSkipListSet<>();

  private final ShardStates states;
  private volatile @Nullable WorkerLinks own;
  private volatile CommException.@Nullable Excluded excluded;

  /// @param options with the functions and changes beyond the built-in ones
  /// @param place the place that this process has taken since the job began; null if it was a
  ///   server from the start
  KvServer(Weft weft, Layout layout, KvOptions options, RunBy runBy, @Nullable ServerPlace place) {
    this.layout = layout;
    this.runner = weft.channel().runner();
    this.self = weft.rank();
    this.states = new ShardStates(new ServerEvents(weft.channel().events()));
    servers.addAll(layout.servers());
    this.runBy = runBy;
    this.workersHere = new ConcurrentSkipListSet<>(layout.workers());
    this.commands =
        new CommandAnswers(
            self, options.commands(), runner, weft.runners().executor("weft-commands-" + self));
    this.files = weft.runners().executor("weft-checkpoint-" + self);
    this.spills =
        new Spills(
            weft.config().value(KvConfig.SPILL_DIRECTORY).orElse(null),
            weft.config().required(KvConfig.SPILL_CACHE),
            weft.rank());
    var budget = new MemoryBudget(weft.config().required(KvConfig.MEMORY));
    var disk = new ShardContext.Disk(new SavedFiles(files, budget), spills);
    var functions = new ShardFunctions(options.functions(), options.changes());
    List<ChannelLane> lanes = weft.lanes();
    List<ShardContext> contexts = new ArrayList<>();
    for (ChannelLane lane : lanes) {
      contexts.add(
          new ShardContext(
              weft.rank(),
              layout.workers(),
              memory(weft, layout, budget, lane),
              disk,
              new Mirroring(
                  layout.replicas(),
                  lane.channel(),
                  layout.kind(),
                  lane.memory(),
                  options.limit(weft)),
              functions,
              layout.shards(),
              states));
    }
    startAgents(weft, contexts);
    if (place != null) { // before the handler learns of other losses
      takes(place);
    }
    for (int lane : layout.lanesOf(self)) {
      lanes.get(lane).channel().serve(layout.kind(), new Handler(lane));
    }
    warnWhereMirrorsCannotHelp(weft);
  }

  private static ShardContext.Memory memory(
      Weft weft, Layout layout, MemoryBudget budget, ChannelLane lane) {
    var replies =
        new ReplyMemory(
            lane.memory(),
            weft.config().required(KvConfig.REPLY_MEMORY) / layout.lanes(),
            layout.workers().size());
    return new ShardContext.Memory(budget, replies, weft.config().required(KvConfig.LIST_MEMORY));
  }

  /// Applies the state of a place that was taken after the job began: the earlier losses and the
  /// earlier replacements.
  private void takes(ServerPlace place) {
    servers.addAll(place.ranks());
    agents.forEach(each -> place.lost().forEach(each::lose));
    for (int number = 0; number < place.ranks().size(); number++) {
      int rank = place.ranks().get(number);
      if (rank != self && rank != layout.servers().get(number)) {
        int other = number;
        agents.forEach(each -> each.returned(other, rank));
      }
    }
  }

  private void warnWhereMirrorsCannotHelp(Weft weft) {
    if (layout.replicas().isMirrored()
        && weft.config().required(ElasticConfig.ON_FAILURE) == OnFailure.END) {
      LOG.warn(
          "rank {}: shards have mirrors, but on-failure is 'end': the job ends when a server is"
              + " lost; use --on-failure shrink",
          self);
    }
  }

  /// @param contexts the state of the shards of each lane
  private void startAgents(Weft weft, List<ShardContext> contexts) {
    int count = runBy == RunBy.PROGRAM ? 1 : layout.threads();
    int peers = layout.workers().size() + layout.servers().size() + 1;
    int most = peers * 2 * RequestChannel.MAX_OPEN * layout.lanes();
    for (int i = 0; i < count; i++) {
      int thread = i;
      List<Integer> shards =
          layout.shardsOf(self).stream().filter(it -> threadOf(it) == thread).toList();
      String role = "weft-shards-" + self + "-" + i;
      int lane = layout.replicas().isMirrored() ? 0 : i % contexts.size();
      var wait = new TaskWait(weft.lanes().get(lane).channel().runner(), drive(i));
      var agent = new ShardAgent(role, shards, most, contexts.get(lane), wait);
      int threads = weft.localSize() * (layout.lanes() + count);
      AgentRunner by = weft.runners().runner(agent, idle(weft, threads), idle(weft, threads));
      agent.runBy(by);
      agents.add(agent);
      runners.add(by);
    }
    if (runBy == RunBy.THREADS) {
      runners.forEach(AgentRunner::start);
    }
  }

  private TaskWait.Drive drive(int thread) {
    if (runBy == RunBy.PROGRAM) {
      return TaskWait.Drive.ALWAYS;
    }
    boolean firstOfLane =
        thread == 0 || (!layout.replicas().isMirrored() && thread < layout.lanes());
    return firstOfLane && !workersHere.contains(self)
        ? TaskWait.Drive.AFTER_SHORT_REQUESTS
        : TaskWait.Drive.NEVER;
  }

  private int threadOf(int shard) {
    return runBy == RunBy.PROGRAM ? 0 : layout.threadOf(shard);
  }

  private static IdleStrategy idle(Weft weft, int threads) {
    IdleStrategy idle =
        IdleStrategy.forRunner(weft.runners().ticker(), threads, weft.localProcessors());
    var spin = weft.config().required(AgentConfig.SPIN);
    return spin.isPresent() ? idle.spinning(spin.getAsInt()) : idle;
  }

  private final class Handler implements RequestHandler {
    private final int lane;

    Handler(int lane) {
      this.lane = lane;
    }

    @Override
    public void onRequest(IncomingRequest request) {
      serve(request);
    }

    @Override
    public void onPeerGone(int rank, CommException cause) {
      // When this rank itself leaves, it loses all peers. It must then take over no shards.
      if (cause instanceof CommException.Excluded out) {
        excluded = out;
      }
      if (!isGoneOnAllLanes(rank, lane)) {
        return; // requests of the rank may still arrive on other lanes
      }
      boolean lost = cause instanceof CommException.PeerLost gone && gone.rank() == rank;
      if (lost && layout.replicas().isMirrored() && servers.contains(rank)) {
        agents.forEach(it -> it.lose(rank));
      }
      leave(rank);
    }
  }

  private boolean isGoneOnAllLanes(int rank, int lane) {
    Set<Integer> left =
        lanesLeft.computeIfAbsent(rank, it -> new ConcurrentSkipListSet<>(layout.lanesOf(self)));
    synchronized (left) {
      return left.remove(lane) && left.isEmpty();
    }
  }

  /// Puts a request of a worker, on this or another rank, into the queue of its shard. Any thread.
  ///
  /// Hot path.
  void serve(IncomingRequest request) {
    KvHead head;
    int worker = NO_WORKER;
    try {
      MemorySegment words = request.head();
      if (words.byteSize() == KvHead.BYTES + Integer.BYTES) {
        worker = mirrored(request, words.get(JAVA_INT_UNALIGNED, KvHead.BYTES));
        words = words.asSlice(0, KvHead.BYTES);
      }
      head = KvHead.read(words);
      if (head.op() == KvOp.COMMAND) {
        requireWorker(request.fromRank());
        commands.answer(request);
        return;
      }
      if (head.op() == KvOp.WHY && answersWhy(request, head)) {
        return;
      }
      if (head.op() == KvOp.RETURN) {
        returned(request, head);
        return;
      }
      if (head.op() == KvOp.RING && worker == NO_WORKER) {
        worker = ring(request, head);
      }
      if (!layout.mayBeOn(head.shard(), self)) {
        throw new IllegalArgumentException(
            "shard "
                + head.shard()
                + " of "
                + layout.shards()
                + " is not on rank "
                + self
                + "; all ranks need the same servers, kv-shards and kv-threads");
      }
    } catch (IllegalArgumentException wrong) {
      request.reply(KvReply.refused(String.valueOf(wrong.getMessage())).encode());
      return;
    }
    ShardAgent shards = agents.get(threadOf(head.shard()));
    if (worker == NO_WORKER) {
      shards.serve(request, head);
    } else {
      shards.mirror(request, head, worker);
    }
  }

  /// Answers a `WHY` request about a wait behind a running function or command, whose thread cannot
  /// answer. Returns whether there is such a function or command.
  private boolean answersWhy(IncomingRequest request, KvHead head) {
    String words =
        KvOp.of(head.digestHigh()) == KvOp.COMMAND ? commands.running() : running(head.shard());
    if (words == null) {
      return false;
    }
    request.reply(KvReply.done(KvReply.NOT_KNOWN, words).encode());
    return true;
  }

  private @Nullable String running(int shard) {
    for (ShardStates.Call each : states.calls()) {
      long nanos = runner.nanos() - each.sinceNanos();
      boolean sameThread = threadOf(each.shard()) == threadOf(shard);
      if (sameThread && nanos >= SHORT_NANOS) {
        return "the thread of shard %d on rank %d runs %s for %.1f s; its shards' requests wait for that"
            .formatted(each.shard(), self, each.words(), nanos / 1e9);
      }
    }
    return null;
  }

  private void requireWorker(int rank) {
    if (!layout.workers().contains(rank)) {
      throw new IllegalArgumentException(
          "rank " + rank + " is not a worker; only workers send commands");
    }
  }

  private int mirrored(IncomingRequest request, int worker) {
    if (!servers.contains(request.fromRank()) || worker < 0 || worker >= layout.workers().size()) {
      throw new IllegalArgumentException(
          "rank %d forwards a request of worker %d of %d; only servers do, with equal options"
              .formatted(request.fromRank(), worker, layout.workers().size()));
    }
    return worker;
  }

  /// Answers a process that takes the place of a lost server, or that probes this server (place
  /// -1).
  private void returned(IncomingRequest request, KvHead head) {
    int place = head.part() - 1;
    if (!layout.replicas().isMirrored() || place >= layout.servers().size()) {
      throw new IllegalArgumentException(
          "place %d of %d servers%s; all servers need the same options"
              .formatted(
                  place,
                  layout.servers().size(),
                  layout.replicas().isMirrored() ? "" : " without mirrors"));
    }
    int rank = request.fromRank();
    if (layout.workers().contains(rank)) {
      throw new IllegalArgumentException(
          "rank "
              + rank
              + " is a worker; a server's place is for a process that has joined the job");
    }
    if (place >= 0) {
      LOG.info(
          "rank {} takes the place of server {} in the replica set; its shards are copied to it",
          rank,
          place);
      servers.add(rank);
      agents.forEach(it -> it.returned(place, rank));
    }
    request.reply(KvReply.done(0).encode());
  }

  /// Passes the new replica set of a shard to this rank's worker. Returns 0 as the worker's
  /// position, so that the shard handles the request like a mirrored one.
  private int ring(IncomingRequest request, KvHead head) {
    if (!servers.contains(request.fromRank())) {
      throw new IllegalArgumentException(
          "rank " + request.fromRank() + " is not a server; only servers announce servers");
    }
    WorkerLinks here = own;
    if (here != null) {
      here.ring(head.shard(), ReplicasNotice.text(request.payload()));
    }
    return 0; // a placeholder, because the message is from a server and concerns no worker
  }

  /// Sets this rank's worker, which is notified of new replica sets.
  void worker(WorkerLinks links) {
    own = links;
  }

  private void leave(int rank) {
    agents.forEach(it -> it.leave(rank));
    workersHere.remove(rank);
  }

  /// Executes at least one request to this server's shards, after a wait of at most `limit`.
  /// Returns whether there was one. Only one program thread may call it. The program must call it
  /// repeatedly, because requests wait until it does. Throws `IllegalStateException` if the server
  /// has its own threads.
  public boolean work(Duration limit) throws InterruptedException {
    if (runBy == RunBy.THREADS) {
      throw new IllegalStateException(
          "the server on rank "
              + self
              + " has its own threads; give KvNode.open KvServer.RunBy.PROGRAM");
    }
    ShardAgent agent = agents.getFirst();
    long before = agent.executed();
    long end = runner.nanos() + Math.max(LEAST_WORK_NANOS, ClampedDuration.nanos(limit));
    while (agent.executed() == before && runner.nanos() - end < 0 && !runner.isEnded()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      long part = Math.min(end, runner.nanos() + LOOK_NANOS);
      var unused =
          runners.getFirst().drive(() -> agent.executed() != before || runner.isEnded(), part);
    }
    return agent.executed() != before;
  }

  /// Returns the numbers of the shards that this server currently serves. After the loss of another
  /// server it may serve more than at the beginning. A process that takes the place of a lost
  /// server serves none at first.
  public Set<Integer> served() {
    return states.served();
  }

  /// Returns the numbers of the served shards that another server mirrors completely. If `mirrored`
  /// equals `served` on all servers, the loss of any one server loses no data.
  public Set<Integer> mirrored() {
    return states.mirrored();
  }

  /// Returns whether any worker on another rank has neither left nor been lost. Returns false if
  /// the other ranks have excluded this server.
  public boolean hasWorkers() {
    return excluded == null && workersHere.stream().anyMatch(it -> it != self);
  }

  /// Waits until all workers on other ranks have left or are lost. Returns whether this happened
  /// within `limit`. If the program's thread runs the shards, the calling thread runs them during
  /// the wait. Throws `CommException.Excluded` if the other ranks have excluded this server.
  public boolean join(Duration limit) throws InterruptedException {
    long end = runner.nanos() + ClampedDuration.nanos(limit);
    boolean left =
        runBy == RunBy.THREADS
            ? runner.await(() -> !hasWorkers(), end)
            : workUntilWorkersLeave(end);
    CommException.Excluded out = excluded;
    if (out != null) {
      throw out;
    }
    return left;
  }

  private boolean workUntilWorkersLeave(long end) throws InterruptedException {
    while (hasWorkers()) {
      long left = end - runner.nanos();
      if (left <= 0) {
        return false;
      }
      var unused = work(Duration.ofNanos(Math.min(left, LOOK_NANOS)));
    }
    return true;
  }

  /// Stops the server's threads, if any, and deletes its files on disk. Later requests are refused.
  /// If the program's thread runs the shards, that thread must make the call. Waits at most ten
  /// seconds for a running function.
  @Override
  public void close() {
    agents.forEach(ShardAgent::end);
    long end = runner.nanos() + CLOSE_NANOS;
    try {
      for (int i = 0; runBy == RunBy.THREADS && i < agents.size(); i++) {
        boolean unused = runners.get(i).await(agents.get(i)::isClosed, end);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    runners.forEach(AgentRunner::close);
    agents.forEach(ShardAgent::close); // a runner whose process has died does not close its agent
    files.shutdown();
    commands.close();
    spills.close();
  }
}
