// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.CommException;
import io.weft.agent.Lane;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/// What user threads want of the lane, in order; and beside it what cannot wait for room: the abort
/// and the closing of a communicator, at most once each. When nobody turns the lane any more,
/// whoever submits runs his command himself, which then fails what it brings.
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
  private @Nullable Lane lane;
  private volatile boolean over;

  /// Tells whose lane it is; before the first command.
  void runBy(Lane owner) {
    lane = owner;
  }

  Lane lane() {
    return Objects.requireNonNull(lane, "no lane");
  }

  // --- user threads

  /// Queues a command; waits for room until `limit` has passed, then throws `TimedOut`.
  void submit(Runnable command, Duration limit) {
    queueDeferred(limit);
    queue(command, limit);
    announce();
  }

  /// Submits a command that its user may `take` back. Waits as `submit` does, but for the one that
  /// was deferred before, which is refused if there is no room.
  ///
  /// Hot path.
  void defer(Deferred command, Duration limit) {
    while (!deferred.compareAndSet(null, command)) {
      queueDeferred(limit);
    }
    tellLane(); // the exchange is volatile, as what is read next
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
    if (!queue.offer(command)) {
      queueWhenThereIsRoom(command, limit);
    }
  }

  private void queueWhenThereIsRoom(Runnable command, Duration limit) {
    long end = lane().nanos() + limit.toNanos();
    while (!queue.offer(command)) {
      if (over) {
        runAll();
        continue;
      }
      if (lane().isOwnThread() || lane().nanos() - end > 0) {
        throw new CommException.TimedOut(
            MAX_COMMANDS
                + " operations are queued and none was taken for "
                + limit.toSeconds()
                + " s; submit fewer at a time",
            List.of());
      }
      if (!lane().drive(() -> queue.size() < MAX_COMMANDS, end)) {
        Thread.yield();
      }
    }
  }

  /// Queues a command that goes before all others and needs no room. Never waits. The caller sees
  /// to it that there are few.
  void submitUrgently(Runnable command) {
    urgent.updateAndGet(before -> new Urgent(command, before));
    announce();
  }

  private void announce() {
    VarHandle.fullFence(); // the queue's write before the read of "parked" and of "over"
    tellLane();
  }

  private void tellLane() {
    if (over) {
      runAll();
    } else {
      lane().commandQueued();
    }
  }

  boolean isEmpty() {
    return queue.isEmpty() && deferred.get() == null && urgent.get() == null;
  }

  // --- the lane

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
    order.forEach(Runnable::run);
    return order.size();
  }

  /// Runs all. By the agent's own thread, and when that is over by user threads: one at a time.
  void runAll() {
    synchronized (queue) {
      var unused = runUrgent();
      Runnable command;
      while ((command = poll()) != null) {
        command.run();
      }
    }
  }

  /// Nobody turns the lane any more.
  void end() {
    over = true; // volatile: a command queued before is run here, a later one by who queued it
    runAll();
  }
}
