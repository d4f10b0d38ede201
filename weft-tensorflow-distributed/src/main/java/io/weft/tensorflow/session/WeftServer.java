// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import com.google.protobuf.InvalidProtocolBufferException;
import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.session.StepException.Reason;
import io.weft.tensorflow.transfer.GraphPart;
import io.weft.tensorflow.transfer.TransferLibrary;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.tensorflow.Graph;
import org.tensorflow.Session;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.GraphOptions;
import org.tensorflow.proto.RewriterConfig;

/// One task of a cluster. It holds the parts of graphs that run on the task, and their variables,
/// in one TensorFlow session, and runs steps for the sessions of all tasks. The task is a rank of
/// the job: the tasks of the cluster in their order are ranks 0, 1, 2 and so on. The server opens
/// no port and accepts no connections, because it uses the job's authenticated connections.
///
/// ```java
/// try (Weft weft = Weft.init(); WeftServer server = WeftServer.start(weft, cluster)) {
///   if (server.task().job().equals("ps")) {
///     server.join();
///   } else {
///     try (WeftSession session = WeftSession.open(server, graph, Duration.ofMinutes(1))) {
///       session.run(call, feeds, Duration.ofSeconds(10)).close();
///     }
///   }
/// }
/// ```
///
/// A process has at most one server per job and must close it before the job. Parts remain until
/// the server closes. Any thread.
public final class WeftServer implements AutoCloseable {

  private static final long FIRST_SERIES = 2; // 0 is for other uses, 1 for control messages
  private static final Duration CLOSING = Duration.ofSeconds(5);

  /// A limit that no wait reaches, because each task leaves or is declared lost.
  private static final Duration FOREVER = Duration.ofDays(365);

  private final Weft weft;
  private final ClusterSpec cluster;
  private final List<Task> tasks;
  private final Mailboxes mailboxes;
  private final Graph graph = new Graph();
  private final Session session;
  private final AtomicLong tickets;
  private final AtomicInteger sessions = new AtomicInteger();
  private final Map<Long, StepAnswers> awaited = new ConcurrentHashMap<>();
  private final Map<String, RemoteSession> guests = new ConcurrentHashMap<>();
  private final List<GraphPart> parts = new ArrayList<>();
  private final ExecutorService importer;

  private WeftServer(Weft weft, ClusterSpec cluster, int threads) {
    this.weft = weft;
    this.session = new Session(graph, config(threads, mayThreadsSpin(weft)));
    this.cluster = cluster;
    this.tasks = cluster.tasks();
    this.tickets = new AtomicLong(RendezvousKey.step(FIRST_SERIES + weft.rank(), 0));
    this.mailboxes = new Mailboxes(weft, new Reader());
    this.importer = thread("weft-server-" + weft.rank());
  }

  /// Returns false if each rank of this host has a core for its computation but none for its
  /// progress thread, because a spinning TensorFlow thread would then take the core from the thread
  /// that it waits for. With more ranks than cores, disabling the spin does not help
  /// (docs/adr/0059).
  private static boolean mayThreadsSpin(Weft weft) {
    int ranks = weft.localSize();
    int cores = weft.localProcessors();
    return ranks > cores || 2 * ranks <= cores;
  }

  /// Returns TensorFlow's default configuration, without the graph optimizer for device memory,
  /// which warns about each `_Recv` that it did not create.
  ///
  /// @param spins whether threads spin before they sleep, which is TensorFlow's default
  private static ConfigProto config(int threads, boolean spins) {
    return ConfigProto.newBuilder()
        .setIntraOpParallelismThreads(threads)
        .setExperimental(ConfigProto.Experimental.newBuilder().setDisableThreadSpinning(!spins))
        .setGraphOptions(
            GraphOptions.newBuilder()
                .setRewriteOptions(
                    RewriterConfig.newBuilder()
                        .setMemoryOptimization(RewriterConfig.MemOptType.NO_MEM_OPT)))
        .build();
  }

  /// Starts the task of this rank, which computes with its share of the host's processors. Throws
  /// `CommException.Setup` if the number of ranks is not the number of tasks, or if TensorFlow does
  /// not load.
  public static WeftServer start(Weft weft, ClusterSpec cluster) {
    return start(weft, cluster, weft.processorShare());
  }

  /// Starts the task of this rank with a number of threads.
  ///
  /// @param threads that share the computation of a node; 0 means one per processor. The first
  ///   session of a process determines the number for all sessions
  public static WeftServer start(Weft weft, ClusterSpec cluster, int threads) {
    if (weft.size() != cluster.tasks().size()) {
      throw new CommException.Setup(
          "the cluster has %d tasks (%s), the job %d ranks; start one rank for each task"
              .formatted(cluster.tasks().size(), cluster, weft.size()),
          null);
    }
    var unused = TransferLibrary.load();
    WeftServer server = new WeftServer(weft, cluster, threads);
    server.mailboxes.open();
    return server;
  }

  /// Returns the task of this rank.
  public Task task() {
    return tasks.get(weft.rank());
  }

  /// Returns the cluster of all tasks.
  public ClusterSpec cluster() {
    return cluster;
  }

  /// Returns the tasks that have left the job or are lost. Any thread; does not wait.
  public List<Task> gone() {
    return IntStream.range(0, tasks.size()).filter(mailboxes::isGone).mapToObj(tasks::get).toList();
  }

  /// Serves until all tasks of other cluster jobs have left or are lost.
  public void join() throws InterruptedException {
    join(FOREVER);
  }

  /// Serves until all tasks of other cluster jobs have left or are lost; a parameter server thus
  /// waits for all workers. Throws `CommException.TimedOut` with the remaining ranks after `limit`.
  public void join(Duration limit) throws InterruptedException {
    long deadline = StepDeadlines.in(limit);
    synchronized (mailboxes) {
      for (List<Integer> there = others(); !there.isEmpty(); there = others()) {
        long millis = ClampedDuration.millis(StepDeadlines.left(deadline));
        if (millis == 0) {
          throw new CommException.TimedOut(
              task() + " served for " + limit + ", and ranks " + there + " have not left", there);
        }
        mailboxes.wait(millis);
      }
    }
  }

  private List<Integer> others() {
    List<Integer> there = new ArrayList<>();
    for (int rank = 0; rank < tasks.size(); rank++) {
      if (!tasks.get(rank).job().equals(task().job()) && !mailboxes.isGone(rank)) {
        there.add(rank);
      }
    }
    return there;
  }

  // --- for sessions of this task

  Weft weft() {
    return weft;
  }

  Mailboxes mailboxes() {
    return mailboxes;
  }

  int rankOf(Task task) {
    return tasks.indexOf(cluster.require(task));
  }

  Task taskOf(int rank) {
    return tasks.get(rank);
  }

  int nextSession() {
    return sessions.getAndIncrement();
  }

  /// Returns a number that is unique in the job and increases on this rank.
  long nextTicket() {
    return tickets.incrementAndGet();
  }

  /// Delivers other ranks' answers to this ticket to `answers`, until `forget`.
  void expect(long ticket, StepAnswers answers, Set<Integer> ranks) {
    awaited.put(ticket, answers);
    for (int rank : ranks) {
      if (mailboxes.isGone(rank)) {
        answers.lost(rank, lost(rank, "it has left the job or is lost"));
      }
    }
  }

  void forget(long ticket) {
    awaited.remove(ticket);
  }

  private Failure lost(int rank, String why) {
    return new Failure(Reason.TASK_LOST, rank, false, taskOf(rank) + ": " + why);
  }

  static String name(int client, int session) {
    return "session_" + client + "_" + session;
  }

  /// Adds a part to this task's session.
  synchronized HostedPart host(String name, GraphDef definition) {
    GraphPart part = new GraphPart(name, weft.rendezvous(), weft.rank(), this::rankOf);
    parts.add(part);
    return HostedPart.add(graph, session, part, name, definition);
  }

  // --- for sessions of other tasks

  private final class Reader implements Mailboxes.MailReader {

    @Override
    public void onMessage(int from, ControlMessage message) {
      switch (message) {
        case ControlMessage.Host host -> importer.execute(() -> host(from, host));
        case ControlMessage.Prepare prepare -> {
          RemoteSession guest = guests.get(name(from, prepare.session()));
          if (guest != null) {
            guest.prepare(prepare);
          }
        }
        case ControlMessage.Run run -> run(from, run);
        case ControlMessage.Abort abort -> weft.rendezvous().abort(abort.step(), abort.why());
        case ControlMessage.End end -> weft.rendezvous().end(end.step());
        case ControlMessage.Drop drop -> drop(name(from, drop.session()), "its session is closed");
        case ControlMessage.Done done -> {
          StepAnswers answers = awaited.get(done.ticket());
          if (answers != null) {
            answers.done(from);
          }
        }
        case ControlMessage.Failed failed -> {
          StepAnswers answers = awaited.get(failed.ticket());
          if (answers != null) {
            answers.failed(from, failed.failure());
          }
        }
      }
    }

    @Override
    public void onLost(int rank, CommException cause) {
      Failure failure = lost(rank, String.valueOf(cause.getMessage()));
      awaited.values().forEach(answers -> answers.lost(rank, failure));
      String prefix = name(rank, 0);
      String mine = prefix.substring(0, prefix.length() - 1);
      for (String name : guests.keySet()) {
        if (name.startsWith(mine)) {
          drop(name, failure.text());
        }
      }
      synchronized (mailboxes) {
        mailboxes.notifyAll();
      }
    }
  }

  private void run(int from, ControlMessage.Run run) {
    RemoteSession guest = guests.get(name(from, run.session()));
    if (guest == null) {
      String why = task() + " holds no part of this session, or has dropped it";
      mailboxes.send(
          from,
          new ControlMessage.Failed(
              run.ticket(), new Failure(Reason.FAILED, weft.rank(), false, why)));
    } else {
      guest.run(run);
    }
  }

  private void host(int from, ControlMessage.Host host) {
    String name = name(from, host.session());
    ControlMessage answer = new ControlMessage.Done(host.ticket());
    try {
      guests.put(
          name,
          new RemoteSession(
              host(name, GraphDef.parseFrom(host.graph())),
              new TensorNames(name, from, weft.rank()),
              weft.rendezvous(),
              message -> mailboxes.send(from, message),
              thread("weft-" + name)));
    } catch (RuntimeException | InvalidProtocolBufferException e) {
      answer =
          new ControlMessage.Failed(
              host.ticket(),
              new Failure(Reason.FAILED, weft.rank(), false, String.valueOf(e.getMessage())));
    }
    mailboxes.send(from, answer);
  }

  private void drop(String name, String why) {
    RemoteSession guest = guests.remove(name);
    if (guest != null) {
      guest.leave(why);
    }
  }

  private static ExecutorService thread(String name) {
    return Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name(name).factory());
  }

  /// Fails the steps that run here and discards all parts and variables. Waits for TensorFlow's
  /// current computations.
  @Override
  public void close() {
    mailboxes.close();
    importer.shutdown();
    List.copyOf(guests.keySet()).forEach(name -> drop(name, task() + " is closed"));
    boolean interrupted = false;
    try {
      var unused =
          importer.awaitTermination(ClampedDuration.millis(CLOSING), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    session.close(); // waits for runs
    graph.close();
    synchronized (this) {
      parts.forEach(GraphPart::close);
      parts.clear();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
