// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/// The queue of commands from user threads to the progress thread, in order. Urgent commands have a
/// separate list, because they cannot wait for room: the abort and the close of a communicator, at
/// most once each, and failure callbacks. After the agent has ended, a submitting thread runs its
/// command itself, and the command then fails its operation.
final class Commands {

  private static final int MAX_COMMANDS = 1 << 13;

  /// A command that may remain with its user thread for a moment, which may run it itself. There is
  /// at most one at a time. Commands submitted later follow it.
  interface Deferred extends Runnable {

    /// Fails the operation of this command for lack of room.
    void refuse(CommException full);
  }

  private record Urgent(Runnable command, @Nullable Urgent before) {}

  private final MpscAtomicArrayQueue<Runnable> queue = new MpscAtomicArrayQueue<>(MAX_COMMANDS);
  private final AtomicReference<@Nullable Urgent> urgent = new AtomicReference<>();
  private final AtomicReference<@Nullable Deferred> deferred = new AtomicReference<>();
  private @Nullable AgentRunner runner;
  private final Load load;
  private volatile boolean ending;
  private volatile boolean ended;

  Commands(Load load) {
    this.load = load;
  }

  /// Sets the runner of the progress thread. Before the first command.
  void runBy(AgentRunner owner) {
    runner = owner;
  }

  AgentRunner runner() {
    return Objects.requireNonNull(runner, "no progress thread");
  }

  // --- user threads

  /// Queues a command. Waits for room, and throws `TimedOut` if no operation ends for half of
  /// `limit`, or at once in a callback.
  void submit(Runnable command, Duration limit) {
    requireNotEnding();
    queueDeferred(limit);
    queue(command, limit);
    announce();
  }

  /// Submits a command that its user may `take` back. Waits as `submit` does, but only for the
  /// previous deferred command, which is refused if there is no room.
  ///
  /// Hot path.
  void defer(Deferred command, Duration limit) {
    if (!load.hasRoom(queue.size())) {
      submit(command, limit);
      return;
    }
    requireNotEnding();
    while (!deferred.compareAndSet(null, command)) {
      queueDeferred(limit);
    }
    tellRunner(); // the exchange and the next read are volatile
  }

  /// Throws `Aborted` in a callback that has learned that this rank leaves the job. A callback that
  /// submits again would otherwise be called without end.
  ///
  /// Hot path.
  private void requireNotEnding() {
    if (ending && runner().isInside()) {
      throw new CommException.Aborted(
          "this rank has left the job, and this callback was notified; a callback must not submit"
              + " again then",
          null);
    }
  }

  private void queueDeferred(Duration limit) {
    Deferred first = deferred.get() == null ? null : deferred.getAndSet(null);
    if (first != null) {
      try {
        queue(first, limit);
      } catch (CommException full) {
        first.refuse(full);
      }
    }
  }

  /// Returns whether this command is deferred and the only one.
  ///
  /// Hot path.
  boolean holdsOnly(Deferred command) {
    return deferred.get() == command && queue.isEmpty() && urgent.get() == null;
  }

  /// Takes a deferred command back. Returns false if another thread has taken it.
  ///
  /// Hot path.
  boolean take(Deferred command) {
    return deferred.compareAndSet(command, null);
  }

  private void queue(Runnable command, Duration limit) {
    if (!load.hasRoom(queue.size()) || !queue.offer(command)) {
      queueWhenThereIsRoom(command, limit);
    }
  }

  /// Waits for room, at most for half of the limit since the last operation ended. A longer wait
  /// could fail the operations that must end first, and all others with them.
  private void queueWhenThereIsRoom(Runnable command, Duration limit) {
    long idle = ClampedDuration.nanos(limit) / 2;
    long before = load.ended();
    long end = runner().nanos() + idle;
    while (!(ended || load.hasRoom(queue.size())) || !queue.offer(command)) {
      if (ended) {
        runner().runLeft(this::runAll);
        continue;
      }
      if (load.ended() != before) {
        before = load.ended();
        end = runner().nanos() + idle;
      }
      if (runner().isInside() || runner().nanos() - end > 0) {
        throw full(limit);
      }
      if (!runner().drive(this::hasRoom, end)) {
        Thread.yield();
      }
    }
  }

  private boolean hasRoom() {
    int queued = queue.size();
    return queued < MAX_COMMANDS && load.hasRoom(queued);
  }

  private CommException full(Duration limit) {
    String since =
        runner().isInside()
            ? ", and a callback does not wait for room"
            : ", and none has ended for " + ClampedDuration.millis(limit.dividedBy(2)) + " ms";
    return new CommException.TimedOut(
        "this rank has as many operations in flight as permitted ("
            + Load.MOST_OPERATIONS
            + " of short tensors, fewer of longer ones)"
            + since
            + "; await some before submitting more: ranks whose orders differ by more than that"
            + " wait for each other forever",
        List.of());
  }

  /// Queues a command that precedes all others and needs no room. Never waits. The callers submit
  /// few.
  void submitUrgently(Runnable command) {
    urgent.updateAndGet(before -> new Urgent(command, before));
    announce();
  }

  private void announce() {
    VarHandle.fullFence(); // orders the queue's write before the reads of "parked" and "ended"
    tellRunner();
  }

  private void tellRunner() {
    if (ended) {
      runner().runLeft(this::runAll);
    } else {
      runner().commandQueued();
    }
  }

  boolean isEmpty() {
    return queue.isEmpty() && deferred.get() == null && urgent.get() == null;
  }

  // --- the progress thread

  /// Returns the next command, or null.
  ///
  /// Hot path.
  @Nullable Runnable poll() {
    Runnable command = queue.poll();
    return command != null || deferred.get() == null ? command : deferred.getAndSet(null);
  }

  /// Runs the urgent commands; returns their number.
  ///
  /// Hot path.
  int runUrgent() {
    return urgent.get() == null ? 0 : runTaken();
  }

  private int runTaken() {
    var order = new ArrayDeque<Runnable>();
    for (Urgent next = urgent.getAndSet(null); next != null; next = next.before) {
      order.addFirst(next.command);
    }
    order.forEach(Collectives::run);
    return order.size();
  }

  /// Runs all commands of a rank that leaves. On the progress thread.
  void runLast() {
    ending = true; // before the first callback runs
    runAll();
  }

  private void runAll() {
    synchronized (queue) {
      var unused = runUrgent();
      Runnable command;
      while ((command = poll()) != null) {
        Collectives.run(command);
      }
    }
  }

  /// Ends the queue, because the agent has ended.
  void end() {
    ending = true;
    ended = true; // volatile: earlier commands run here, later ones on the submitting thread
    AgentRunner progress = runner;
    if (progress == null) {
      runAll(); // the mesh has ended before any thread could submit
    } else {
      progress.runLeft(this::runAll);
    }
  }

  /// The weight of the operations in flight on this rank, and its limit. The limit bounds the
  /// frames that other ranks keep for operations they have not begun. An operation weighs its
  /// tensor's length, but at least 12 KiB, and at most 64 KiB, the most that it may send before
  /// other ranks reply. Written by the progress thread; read by any thread.
  static final class Load {

    /// The maximum number of operations of the least weight.
    static final int MOST_OPERATIONS = 1 << 14;

    private static final long LEAST_WEIGHT = 12 << 10;
    private static final long MOST_WEIGHT = 64 << 10;
    private static final long MOST = MOST_OPERATIONS * LEAST_WEIGHT;

    private long weight;
    private long ended;
    private volatile int operations;

    private static long weight(long bytes) {
      return Math.clamp(bytes, LEAST_WEIGHT, MOST_WEIGHT);
    }

    // --- the progress thread

    void begin(long bytes) {
      weight += weight(bytes);
    }

    void end(long bytes) {
      weight -= weight(bytes);
      ended++;
    }

    /// Publishes the changes to user threads.
    ///
    /// @param count the new value of `operations`
    void publish(int count) {
      operations = count; // volatile: releases weight and ended
    }

    // --- any thread

    /// Returns the number of operations for which the progress thread has work.
    int operations() {
      return operations;
    }

    /// Returns whether another operation may be submitted after `queued` commands that the progress
    /// thread has not taken.
    ///
    /// Hot path.
    boolean hasRoom(int queued) {
      return operations == 0 || weight + queued * LEAST_WEIGHT < MOST;
    }

    /// Returns the number of operations that have ended; never decreases.
    long ended() {
      var unused = operations; // volatile: acquires the published values
      return ended;
    }
  }
}
