// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.transport.limit.Span;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/// What user threads want of the progress thread, in order; and beside it what cannot wait for
/// room: the abort and the closing of a communicator, at most once each. When nobody turns the
/// agent any more, whoever submits runs his command himself, which then fails what it brings.
final class Commands {

  private static final int MAX_COMMANDS = 1 << 13;

  /// What may stay with its user for a moment, who perhaps runs it himself. At most one at a time;
  /// what is submitted after it goes after it.
  interface Deferred extends Runnable {

    /// There was no room for it in time.
    void refuse(CommException full);
  }

  private record Urgent(Runnable command, @Nullable Urgent before) {}

  private final MpscAtomicArrayQueue<Runnable> queue = new MpscAtomicArrayQueue<>(MAX_COMMANDS);
  private final AtomicReference<@Nullable Urgent> urgent = new AtomicReference<>();
  private final AtomicReference<@Nullable Deferred> deferred = new AtomicReference<>();
  private @Nullable AgentRunner runner;
  private final Load load;
  private volatile boolean ending;
  private volatile boolean over;

  Commands(Load load) {
    this.load = load;
  }

  /// Tells whose progress thread it is; before the first command.
  void runBy(AgentRunner owner) {
    runner = owner;
  }

  AgentRunner runner() {
    return Objects.requireNonNull(runner, "no progress thread");
  }

  // --- user threads

  /// Queues a command; waits for room until `limit` has passed, then throws `TimedOut`.
  void submit(Runnable command, Duration limit) {
    requireNotEnding();
    queueDeferred(limit);
    queue(command, limit);
    announce();
  }

  /// Submits a command that its user may `take` back. Waits as `submit` does, but for the one that
  /// was deferred before, which is refused if there is no room.
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
    tellRunner(); // the exchange is volatile, as what is read next
  }

  /// A callback that was told that this rank leaves the job, and submits again, would be told for
  /// ever.
  ///
  /// Hot path.
  private void requireNotEnding() {
    if (ending && runner().isInside()) {
      throw new CommException.Aborted(
          "this rank has left the job, and this callback was told so; a callback must not submit"
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

  /// Whether this one is deferred, and nothing else is submitted.
  ///
  /// Hot path.
  boolean holdsOnly(Deferred command) {
    return deferred.get() == command && queue.isEmpty() && urgent.get() == null;
  }

  /// Takes a deferred command back; false if somebody else has it.
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

  /// Not as long as the operations may take that are to end first, or these would fail instead, and
  /// all else with them.
  private void queueWhenThereIsRoom(Runnable command, Duration limit) {
    long idle = Span.nanos(limit) / 2;
    long ended = load.ended();
    long end = runner().nanos() + idle;
    while (!(over || load.hasRoom(queue.size())) || !queue.offer(command)) {
      if (over) {
        runner().runLeft(this::runAll);
        continue;
      }
      if (load.ended() != ended) {
        ended = load.ended();
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
            : ", and none has ended for " + Span.millis(limit.dividedBy(2)) + " ms";
    return new CommException.TimedOut(
        "as many operations are under way on this rank as may be ("
            + Load.MOST_OPERATIONS
            + " of short tensors, fewer of longer ones)"
            + since
            + "; await some before submitting more: ranks whose orders differ by more than that"
            + " wait for each other for ever",
        List.of());
  }

  /// Queues a command that goes before all others and needs no room. Never waits. The caller sees
  /// to it that there are few.
  void submitUrgently(Runnable command) {
    urgent.updateAndGet(before -> new Urgent(command, before));
    announce();
  }

  private void announce() {
    VarHandle.fullFence(); // the queue's write before the read of "parked" and of "over"
    tellRunner();
  }

  private void tellRunner() {
    if (over) {
      runner().runLeft(this::runAll);
    } else {
      runner().commandQueued();
    }
  }

  boolean isEmpty() {
    return queue.isEmpty() && deferred.get() == null && urgent.get() == null;
  }

  // --- the progress thread

  /// The next command, or null.
  ///
  /// Hot path.
  @Nullable Runnable poll() {
    Runnable command = queue.poll();
    return command != null || deferred.get() == null ? command : deferred.getAndSet(null);
  }

  /// Runs what is urgent; returns how much it was.
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

  /// Runs all, of a rank that leaves. On the progress thread.
  void runLast() {
    ending = true; // before the first callback is told
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

  /// Nobody turns the agent any more.
  void end() {
    ending = true;
    over = true; // volatile: a command queued before is run here, a later one by who queued it
    AgentRunner turnedBy = runner;
    if (turnedBy == null) {
      runAll(); // the mesh has ended before anybody could submit
    } else {
      turnedBy.runLeft(this::runAll);
    }
  }

  /// How much is under way on this rank, and how much may be: until the others have begun what this
  /// rank has, they keep what it sent them for it. So an operation weighs as its tensor, but not
  /// less than 12 KiB, nor more than the 64 KiB that it may send before it hears of the others.
  /// Written by the progress thread; read by any thread.
  static final class Load {

    /// Most operations, where none weighs more than the least.
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

    /// One more is under way, of a tensor of so many bytes.
    void begin(long bytes) {
      weight += weight(bytes);
    }

    /// One less is.
    void end(long bytes) {
      weight -= weight(bytes);
      ended++;
    }

    /// Tells users what has begun and ended.
    ///
    /// @param count what the progress thread has to do something for
    void publish(int count) {
      operations = count; // volatile: releases the other two
    }

    // --- any thread

    /// What the progress thread has to do something for.
    int operations() {
      return operations;
    }

    /// Whether one more may be submitted behind so many that the progress thread has not taken.
    ///
    /// Hot path.
    boolean hasRoom(int queued) {
      return operations == 0 || weight + queued * LEAST_WEIGHT < MOST;
    }

    /// How many have ended; grows.
    long ended() {
      var unused = operations; // volatile: acquires what was published
      return ended;
    }
  }
}
