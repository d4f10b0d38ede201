// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.partition.GraphPartition;
import io.weft.tensorflow.partition.Partitioner;
import io.weft.tensorflow.partition.ReceiveGroup;
import io.weft.tensorflow.partition.Transfer;
import io.weft.tensorflow.placement.Initializers;
import io.weft.tensorflow.session.StepException.Reason;
import io.weft.tensorflow.transfer.ReceiveBatch;
import io.weft.tensorflow.transfer.ReceivePlan;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Tensor;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TInt32;

/// A graph over the tasks of a cluster. The session registers the graph once and then runs steps.
/// Nodes run on their devices' tasks, or on this task if they have no device. Variables live in the
/// servers of their tasks under their own names, and the sessions of all tasks share them.
///
/// One step at a time; any thread may cancel it. A process may have several sessions.
public final class WeftSession implements AutoCloseable {

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final Duration LAST_LOOK = Duration.ofSeconds(1);

  private final WeftServer server;
  private final GraphPartition partition;
  private final int number;
  private final @Nullable HostedPart own;
  private final Map<Integer, TensorNames> names = new HashMap<>();
  private final Map<GraphCall, PreparedCall> calls = new HashMap<>();
  private final ReentrantLock steps = new ReentrantLock();
  private volatile @Nullable StepAnswers running;
  private volatile @Nullable String abandoned;

  private WeftSession(WeftServer server, GraphPartition partition, int number) {
    this.server = server;
    this.partition = partition;
    this.number = number;
    GraphDef here = partition.parts().get(server.task());
    this.own = here == null ? null : server.host(name(), here);
    for (Task task : partition.parts().keySet()) {
      int rank = server.rankOf(task);
      if (rank != server.weft().rank()) {
        names.put(rank, new TensorNames(name(), server.weft().rank(), rank));
      }
    }
  }

  /// Partitions the graph and sends each task its part. Does not initialize variables. TensorFlow
  /// Java collects the operations built in `withInitScope` in the node `Init`, which would run on
  /// each task; here it runs like any other node, when a call names it. Throws
  /// `IllegalArgumentException`, which names the nodes, for a graph that cannot be partitioned.
  /// Throws `StepException`, which names the task, if a task refuses its part, is lost, or does not
  /// answer within `limit`. Each task must have started its `WeftServer`.
  public static WeftSession open(WeftServer server, GraphDef graph, Duration limit)
      throws InterruptedException {
    GraphDef portable = Initializers.portable(graph, Initializers.PORTABLE);
    GraphPartition partition = new Partitioner(server.cluster(), server.task()).partition(portable);
    WeftSession session = new WeftSession(server, partition, server.nextSession());
    boolean registered = false;
    try {
      session.register(limit);
      registered = true;
      return session;
    } finally {
      if (!registered) {
        session.close();
      }
    }
  }

  /// Opens a session and returns when all variables of the graph have a value. The chief
  /// (`ClusterSpec.chief`, by default worker 0) runs the graph's initializers unless all variables
  /// have a value; the other tasks wait for it. Each of these tasks may call it at any time. The
  /// initializers are the operations built in `withInitScope`. For a variable without such an
  /// operation, the initializer is its only assignment whose value depends on no variable and no
  /// placeholder.
  ///
  /// Throws `IllegalArgumentException`, which names the variable, if a variable has no initializer
  /// or several, or if this task is not the chief and a variable has no task. Throws
  /// `StepException`, which names the chief, if the chief has left or does not initialize all
  /// variables within `limit`.
  public static WeftSession openInitialized(WeftServer server, GraphDef graph, Duration limit)
      throws InterruptedException {
    long deadline = StepDeadlines.in(limit);
    Initializers first = Initializers.of(Initializers.portable(graph, Initializers.PORTABLE));
    if (!server.task().equals(server.cluster().chief()) && first.unplaced().isPresent()) {
      throw new IllegalArgumentException(
          ("variable '%s' has no task in its device, so %s cannot initialize that of %s;"
                  + " place the graph with ReplicaDeviceSetter")
              .formatted(first.unplaced().get(), server.cluster().chief(), server.task()));
    }
    WeftSession session = open(server, first.graph(), limit);
    boolean initialized = false;
    try {
      session.initialize(first, deadline, limit);
      initialized = true;
      return session;
    } finally {
      if (!initialized) {
        session.close();
      }
    }
  }

  private void initialize(Initializers first, long deadline, Duration limit)
      throws InterruptedException {
    Task chief = server.cluster().chief();
    if (server.task().equals(chief)) {
      if (initialized(first, deadline) < first.variables()) {
        run(first.targets(), StepDeadlines.left(deadline));
      }
      return;
    }
    for (int known = initialized(first, deadline);
        known < first.variables();
        known = initialized(first, deadline)) {
      String waits = "%d of %d variables have a value".formatted(known, first.variables());
      if (server.gone().contains(chief)) {
        throw new StepException(
            Reason.TASK_LOST,
            chief,
            waits + ", and " + chief + ", which initializes them, has left or is lost",
            null);
      }
      if (StepDeadlines.isOver(deadline)) {
        throw new StepException(
            Reason.TIMED_OUT,
            chief,
            "%s after %s; %s initializes them: check that it calls WeftSession.openInitialized"
                .formatted(waits, limit, chief),
            null);
      }
      LockSupport.parkNanos(LOOK_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  private int initialized(Initializers first, long deadline) throws InterruptedException {
    if (first.variables() == 0) {
      return 0;
    }
    GraphCall count = new GraphCall(List.of(), first.counts(), List.of());
    Duration left = StepDeadlines.left(deadline);
    int known = 0;
    try (Fetched counts = run(count, Map.of(), left.compareTo(LAST_LOOK) < 0 ? LAST_LOOK : left)) {
      for (int i = 0; i < counts.size(); i++) {
        known += ((TInt32) counts.get(i)).getInt();
      }
    }
    return known;
  }

  private String name() {
    return WeftServer.name(server.weft().rank(), number);
  }

  private void register(Duration limit) throws InterruptedException {
    long ticket = server.nextTicket();
    Set<Integer> ranks = Set.copyOf(names.keySet());
    StepAnswers answers = new StepAnswers(ranks, () -> {});
    server.expect(ticket, answers, ranks);
    try {
      partition
          .parts()
          .forEach(
              (task, part) -> {
                int rank = server.rankOf(task);
                if (names.containsKey(rank)) {
                  server
                      .mailboxes()
                      .send(rank, new ControlMessage.Host(ticket, number, part.toByteArray()));
                }
              });
      if (!answers.await(StepDeadlines.in(limit))) {
        answers.fail(silent(answers, limit, "check that its WeftServer is started"));
      }
      answers.failure().ifPresent(this::refuse);
    } finally {
      server.forget(ticket);
    }
  }

  private void refuse(Failure failure) {
    throw exception("registration of graph " + name(), failure, null);
  }

  /// Runs `call` for at most `limit` and waits until all tasks have completed it; all its changes
  /// are then done. Returns the fetches in their order, owned by the caller.
  ///
  /// Throws `StepException` after a failure, upon which all tasks abandon the step. Nodes that have
  /// run by then have changed their variables. A node that TensorFlow is computing runs to its end,
  /// and the next step waits for it. Throws `IllegalArgumentException` for a name that is not in
  /// the graph, a missing feed, or a tensor that is fetched twice. Throws `IllegalStateException`
  /// while another step runs.
  ///
  /// @param feeds by the names in `call`; borrowed until this returns
  public Fetched run(GraphCall call, Map<String, ? extends Tensor> feeds, Duration limit)
      throws InterruptedException {
    if (!feeds.keySet().containsAll(call.feeds())) {
      throw new IllegalArgumentException("feeds " + call.feeds() + ", given " + feeds.keySet());
    }
    if (!steps.tryLock()) {
      throw new IllegalStateException(
          "a step of " + name() + " runs; let it end, or open another session of the graph");
    }
    try {
      PreparedCall prepared = prepared(call);
      ClientStep step = new ClientStep(server, own, prepared, names, number, limit);
      running = step.answers();
      String why = abandoned; // read after `running` is set, so that `abandon` misses no step
      if (why != null) {
        Failure never = new Failure(Reason.CANCELLED, server.weft().rank(), false, why);
        throw exception("step " + step.number() + " of " + name(), never, null);
      }
      try {
        return step.run(feeds);
      } catch (StepFailed e) {
        throw exception("step " + step.number() + " of " + name(), e.failure(), e.getCause());
      }
    } finally {
      running = null;
      steps.unlock();
    }
  }

  /// Runs these nodes, such as initializers, without fetches.
  public void run(List<String> targets, Duration limit) throws InterruptedException {
    run(new GraphCall(List.of(), List.of(), targets), Map.of(), limit).close();
  }

  /// Cancels the current step, if any; its `run` throws. Any thread; does not wait.
  ///
  /// @param why for the message
  public void cancel(String why) {
    StepAnswers step = running;
    if (step != null) {
      step.fail(new Failure(Reason.CANCELLED, server.weft().rank(), false, why));
    }
  }

  /// Cancels the current step, and each later step before it begins, for permanent failures, which
  /// may occur between two steps. Any thread; does not wait.
  ///
  /// @param why for the messages
  public void abandon(String why) {
    abandoned = why;
    cancel(why);
  }

  private PreparedCall prepared(GraphCall wanted) {
    GraphCall call = renamed(wanted);
    PreparedCall known = calls.get(call);
    if (known == null) {
      known = prepare(call);
      calls.put(call, known);
    }
    return known;
  }

  private static GraphCall renamed(GraphCall call) {
    if (!call.targets().contains(Initializers.TENSORFLOW_JAVA)) {
      return call;
    }
    return new GraphCall(
        call.feeds(),
        call.fetches(),
        call.targets().stream()
            .map(name -> name.equals(Initializers.TENSORFLOW_JAVA) ? Initializers.PORTABLE : name)
            .toList());
  }

  private PreparedCall prepare(GraphCall call) {
    if (Set.copyOf(call.fetches()).size() < call.fetches().size()) {
      throw new IllegalArgumentException(
          "a tensor is fetched twice, which TensorFlow Java does not support: " + call.fetches());
    }
    SortedMap<Task, List<ReceiveGroup>> groups = partition.together(call);
    SortedMap<Integer, GraphCall> others = new TreeMap<>();
    PartCall here = null;
    for (Map.Entry<Task, GraphCall> part : partition.plan(call).entrySet()) {
      Task task = part.getKey();
      GraphCall its = part.getValue();
      if (its.fetches().isEmpty() && its.targets().isEmpty()) {
        continue;
      }
      List<ReceiveBatch> together =
          groups.getOrDefault(task, List.of()).stream().map(this::together).toList();
      if (task.equals(server.task()) && own != null) {
        here = new PartCall(its, new ReceivePlan(own.part(), together));
      } else {
        int rank = server.rankOf(task);
        others.put(rank, its);
        server
            .mailboxes()
            .send(rank, new ControlMessage.Prepare(number, calls.size(), its, together));
      }
    }
    return new PreparedCall(calls.size(), call, here, Collections.unmodifiableSortedMap(others));
  }

  private ReceiveBatch together(ReceiveGroup group) {
    return new ReceiveBatch(
        server.rankOf(group.source()), group.transfers().stream().map(Transfer::edge).toList());
  }

  private Failure silent(StepAnswers answers, Duration limit, String what) {
    int rank = answers.open().stream().findFirst().orElse(server.weft().rank());
    return new Failure(Reason.TIMED_OUT, rank, false, "no answer for " + limit + "; " + what);
  }

  private StepException exception(String what, Failure failure, @Nullable Throwable cause) {
    Task task = server.taskOf(failure.rank());
    String how =
        switch (failure.reason()) {
          case FAILED -> "failed on " + task;
          case TIMED_OUT -> "did not complete in time; it waited for " + task;
          case CANCELLED -> "was cancelled on " + task;
          case TASK_LOST -> "failed, because " + task + " is lost";
        };
    return new StepException(
        failure.reason(), task, what + " " + how + ": " + failure.text(), cause);
  }

  /// Tells the tasks to discard the session; variables remain in their servers.
  @Override
  public void close() {
    names.keySet().forEach(rank -> server.mailboxes().send(rank, new ControlMessage.Drop(number)));
  }
}
