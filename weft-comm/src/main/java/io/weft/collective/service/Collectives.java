// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.cluster.Mesh;
import io.weft.cluster.MeshService;
import io.weft.cluster.PeerExit;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.ServiceIds;
import io.weft.cluster.elastic.EpochFollower;
import io.weft.cluster.elastic.Membership.Epoch;
import io.weft.collective.Communicator;
import io.weft.collective.CommunicatorObserver;
import io.weft.collective.CommunicatorObservers;
import io.weft.collective.Tuning;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.group.Group;
import io.weft.collective.group.Groups;
import io.weft.collective.group.NameUse;
import io.weft.collective.group.NameUses;
import io.weft.collective.mailbox.SharedMailboxes;
import io.weft.comm.CommException;
import io.weft.memory.TensorPool;
import io.weft.observer.Observers;
import io.weft.observer.OperationObserver;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The collectives of one rank: accepts operations from user threads, runs them over the mesh, and
/// ends them in time.
///
/// Operations are matched by the hash of communicator and name, and the count of that name's uses.
/// Ranks do not coordinate, so a small operation costs no round trip for agreement. Every message
/// contains a hash of the properties on which ranks must agree.
public final class Collectives implements MeshService {

  private static final Logger LOG = LoggerFactory.getLogger(Collectives.class);

  private final Duration defaultDeadline;
  private final Tuning tuning;
  private final AlgorithmTable table;
  private final long keepBytes;
  private final Commands.Load load = new Commands.Load();
  private final Commands commands = new Commands(load);
  private final Groups groups = new Groups();
  private final NameUses names = new NameUses();
  private final AtomicLong operations = new AtomicLong();
  private final ActiveOperations activeOperations = new ActiveOperations();
  private final List<Operation<?>> held = new ArrayList<>();
  private final Consumer<Operation<?>> finisher = this::acknowledge;
  private final DrainingOperations draining = new DrainingOperations(this);
  private final Inbox inbox = new Inbox(this);
  private final CommunicatorFailures failures = new CommunicatorFailures(this);
  private final NameEviction eviction =
      new NameEviction(
          names,
          this::context,
          use -> activeOperations.find(use.key(), use.count() - 1) == null,
          rank -> mesh().isGone(rank),
          this::beginHeld);
  private final Epochs epochs =
      new Epochs(
          groups,
          names,
          inbox,
          failures,
          group -> {
            mailboxes().close(group);
            eviction.close(group);
          });
  private OperationObserver observer = new Observers();
  private CommunicatorObserver events = new CommunicatorObservers();
  private @Nullable Mesh mesh;
  private @Nullable CollectiveContext context;
  private @Nullable SharedMailboxes mailboxes;
  private @Nullable OperationDeadlines deadlines;
  private @Nullable TensorPool tensors;
  private long now;
  private boolean closed;

  /// Creates collectives with this hard deadline and this limit of idle staging memory.
  public Collectives(Duration deadline, Tuning tuning, AlgorithmTable table, long keepBytes) {
    this.defaultDeadline = deadline;
    this.tuning = tuning;
    this.table = table;
    this.keepBytes = keepBytes;
  }

  /// Sets the runner of the progress thread. Before the first communicator.
  public void runBy(AgentRunner owner) {
    commands.runBy(owner);
  }

  /// Sets the observers of operations, and those of communicators and peers, which must not throw.
  /// Before the first communicator.
  public void observedBy(OperationObserver operations, CommunicatorObserver communicators) {
    observer = operations;
    events = communicators;
  }

  /// Returns the number of a new operation for its events. Any thread.
  long nextOperation() {
    return operations.incrementAndGet();
  }

  /// Returns the current time, rather than the time at which the duty cycle began.
  long nanos() {
    return mesh().nanos();
  }

  OperationObserver observer() {
    return observer;
  }

  CommunicatorObserver events() {
    return events;
  }

  /// Registers an action by `Weft.onFailure`.
  public void onFailure(Consumer<? super CommException> action) {
    commands.submitUrgently(() -> failures.onFailure(action));
  }

  /// Returns the follower that must be notified of epochs.
  public EpochFollower epochs() {
    return epochs;
  }

  /// Creates a communicator of these world ranks in an epoch that this rank has entered. All
  /// members must create the communicators of one set in the same order, and other ranks must not.
  /// User thread.
  public Communicator communicator(ProcessSet set, Epoch in) {
    return communicator(set, in, "");
  }

  /// Creates a communicator of the ranks of `of`, which matches only duplicates of the same name.
  Communicator duplicate(Group of, String name) {
    if (name.isBlank()) {
      throw new IllegalArgumentException(
          "the name of a duplicate of the communicator of " + of.set().ranks() + " is blank");
    }
    return communicator(of.set(), new Epoch(of.epoch(), of.set()), of.nameOfDuplicate(name));
  }

  private Communicator communicator(ProcessSet set, Epoch in, String name) {
    Mesh connected = Objects.requireNonNull(mesh, "the mesh is not connected");
    Group group = epochs.group(set, in, name, connected.topology(), connected.rank());
    commands.submit(() -> open(group), defaultDeadline);
    return new MeshCommunicator(this, group, commands.runner(), defaultDeadline);
  }

  // --- user threads

  /// Returns the pool of tensors in the transport's memory, after the mesh is connected. It is
  /// closed together with this object.
  public TensorPool tensors() {
    return Objects.requireNonNull(tensors, "the mesh is not connected");
  }

  AlgorithmTable table() {
    return table;
  }

  /// Returns the initial tuning of a communicator.
  Tuning tuning() {
    return tuning;
  }

  Commands commands() {
    return commands;
  }

  @Override
  public byte id() {
    return ServiceIds.COLLECTIVES;
  }

  @Override
  public boolean hasPending(int rank) {
    return context != null && context.hasPending(rank);
  }

  @Override
  public boolean busy() {
    return load.operations() > 0;
  }

  @Override
  public boolean hasCommands() {
    return !commands.isEmpty();
  }

  /// Returns the bytes that operations have read and written in memory of other ranks. Any thread,
  /// after the start.
  public long mappedBytes() {
    return context().mappedBytes();
  }

  // --- the progress thread

  CollectiveContext context() {
    return Objects.requireNonNull(context);
  }

  Mesh mesh() {
    return Objects.requireNonNull(mesh);
  }

  long now() {
    return now;
  }

  ActiveOperations activeOperations() {
    return activeOperations;
  }

  Inbox inbox() {
    return inbox;
  }

  CommunicatorFailures failures() {
    return failures;
  }

  @Override
  public void onStart(Mesh connected) {
    mesh = connected;
    CollectiveContext opened = new CollectiveContext(connected, keepBytes, table.blockBytes());
    context = opened;
    mailboxes = new SharedMailboxes(connected, opened);
    tensors = new TensorPool(connected.transport(), keepBytes);
    deadlines = new OperationDeadlines(this);
  }

  private void open(Group group) {
    group.tell(events);
    CommException failure = epochs.open(group);
    failure = failure == null ? failures.atBirth(group) : failure;
    if (failure != null) {
      failures.failAtBirth(group, failure);
    }
    if (group.isClosed()) {
      close(group);
    } else {
      inbox.replayMailboxes(group);
    }
  }

  /// Closes a communicator, possibly before it was opened: its operations fail, and its names are
  /// forgotten.
  void close(Group group) {
    group.close();
    if (groups.get(group.key()) != group) {
      return;
    }
    events.onClosed(group.key(), now);
    var unused = failures.abortHere(group, FailureMessages.closed(group));
    mailboxes().close(group);
    groups.close(group);
    eviction.close(group);
    names.forget(group);
    inbox.forget(group.key());
  }

  /// Returns whether this rank has closed the communicator, so that further frames for it are late.
  boolean isClosed(long groupKey) {
    return groups.isClosed(groupKey);
  }

  void begin(Operation<?> operation) {
    CommException failure = failures.of(operation.group());
    failure = failure == null && closed ? FailureMessages.closed(operation.group()) : failure;
    if (failure != null) {
      operation.taken(this, names.count(operation.key()));
      operation.fail(failure, now);
      operation.settle();
      return;
    }
    if (eviction.holds(operation.key())) {
      held.add(operation);
      publishLoad();
      return;
    }
    operation.taken(
        this,
        names.use(operation.key(), operation.group(), operation.name(), operation.signature()));
    eviction.onUse(operation.group());
    add(operation);
    if (operation.start()) {
      acknowledge(operation);
    }
  }

  /// Handles an exception of an operation on the progress thread, for example because the arena of
  /// its tensor was closed. Only this operation fails, on all members that have not completed it.
  void broken(Operation<?> operation, Throwable thrown) {
    if (!operation.failed()) {
      CommException cause = FailureMessages.broken(operation, thrown);
      fail(operation, cause);
      failures.tellBroken(operation, cause);
    }
  }

  /// Begins the held operations, because their names are released or their communicator has failed.
  private void beginHeld() {
    List<Operation<?>> due = List.copyOf(held);
    held.clear();
    due.forEach(this::begin);
    publishLoad();
  }

  /// Returns the operations that have not begun because their names are held.
  List<Operation<?>> held() {
    return held;
  }

  /// Fails the held operations of a communicator that has failed.
  void failHeld() {
    if (!held.isEmpty()) {
      beginHeld();
    }
  }

  NameEviction eviction() {
    return eviction;
  }

  private void publishLoad() {
    load.publish(activeOperations.size() + draining.size() + held.size());
  }

  private void add(Operation<?> operation) {
    activeOperations.add(operation);
    load.begin(operation.bytes());
    publishLoad();
  }

  /// Returns whether this rank may soon begin operations that it has accepted, or has users that
  /// wait for room to submit.
  boolean isBehind() {
    return !commands.isEmpty() || !load.hasRoom(0) || !held.isEmpty();
  }

  /// Returns whether a deferred command of this communicator is the only work to do.
  ///
  /// Hot path.
  boolean isAlone(Commands.Deferred command, Group group) {
    return commands.holdsOnly(command)
        && inbox.isEmpty()
        && failures.of(group) == null
        && !eviction.isOpen()
        && !closed;
  }

  /// Continues an operation whose first stage was begun without it, outside a duty cycle. Fails it
  /// if `broken` is not null.
  void resume(Operation<?> operation, @Nullable Throwable broken, long nowNanos) {
    now = nowNanos;
    add(operation);
    if (broken != null) {
      broken(operation, broken);
    } else if (operation.resume()) {
      acknowledge(operation);
    }
  }

  private void acknowledge(Operation<?> operation) {
    drop(operation);
    operation.complete();
  }

  private void drop(Operation<?> operation) {
    activeOperations.remove(operation);
    inbox.forgetOperation(NameUse.id(operation.key(), operation.sequence()));
    load.end(operation.bytes());
    publishLoad();
  }

  /// Hot path.
  @Override
  public int takeCommands(long nowNanos) {
    now = nowNanos;
    int taken = commands.runUrgent();
    Runnable command;
    while ((command = commands.poll()) != null) {
      run(command);
      taken++;
    }
    return taken;
  }

  /// Runs a command. A command reports the failures of its operation itself; any other exception is
  /// logged and harms no other command.
  static void run(Runnable command) {
    try {
      command.run();
    } catch (RuntimeException | Error e) {
      LOG.error(
          "a command on the progress thread has thrown; this is a defect, please report it", e);
    }
  }

  /// Hot path.
  @Override
  public int work(long nowNanos) {
    int work = context == null ? 0 : context().flush();
    work += takeCommands(nowNanos);
    if (mailboxes != null) {
      mailboxes.work();
    }
    work += activeOperations.advance(finisher);
    if (draining.size() > 0) {
      work += draining.work(nowNanos);
      publishLoad();
    }
    if (deadlines != null) {
      deadlines.check(nowNanos);
    }
    return work;
  }

  // --- failure

  /// Fails one operation; its communicator remains usable.
  void fail(Operation<?> operation, CommException cause) {
    if (operation.failed()) {
      return;
    }
    operation.fail(cause, now);
    names.settle(operation.key());
    draining.add(operation);
    drop(operation);
  }

  void forEachGroup(Consumer<? super Group> action) {
    groups.forEach(action);
  }

  @Override
  public void onPeerAdded(int rank) {
    context().onPeerAdded(rank);
  }

  @Override
  public String onPeerGone(int rank, PeerExit how) {
    return switch (how) {
      case PeerExit.Left _ -> {
        onPeerLeft(rank);
        yield "";
      }
      case PeerExit.Lost lost -> {
        events.onPeerLost(rank, lost.witness(), FailureMessages.loss(mesh(), rank, lost), now);
        yield failures.onLost(rank, lost);
      }
    };
  }

  private void onPeerLeft(int rank) {
    events.onPeerLeft(rank, now);
    groups.forEach(
        group -> {
          failures.onLeft(group, rank);
          if (group.member(rank) >= 0) {
            eviction.onLeft(group, group.member(rank));
          }
        });
  }

  @Override
  public void onExcluded(int witness, String why) {
    failures.abortAllHere(new CommException.Excluded(why, witness));
  }

  @Override
  public void onClose() {
    closed = true;
    commands.runLast();
    groups.forEach(
        group -> {
          group.close();
          events.onClosed(group.key(), now);
          var unused = failures.abortHere(group, FailureMessages.closed(group));
        });
    draining.settle();
  }

  @Override
  public void onCrash(Throwable cause) {
    closed = true;
    failures.abortAllHere(FailureMessages.crashed(mesh(), cause));
    commands.runLast();
  }

  @Override
  public void onClosing() {
    commands.end();
    draining.end();
    if (context != null) {
      context.staging().close();
    }
    if (tensors != null) {
      tensors.close();
    }
    if (mailboxes != null) {
      mailboxes.end();
    }
  }

  // --- from the wire

  @Nullable Group group(long key) {
    return groups.get(key);
  }

  SharedMailboxes mailboxes() {
    return Objects.requireNonNull(mailboxes);
  }

  NameUses names() {
    return names;
  }

  /// Handles a member's abort of a communicator, which may not be open here yet.
  void onAbort(int fromRank, long groupKey, CommException cause) {
    failures.onAbort(groups, fromRank, groupKey, cause);
  }

  @Override
  public void onMessage(int fromRank, MemorySegment message) {
    inbox.onMessage(fromRank, message);
  }
}
