// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import io.weft.agent.AgentRunner;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The submissions of user threads to a service, in order for each thread. Submitting never waits.
/// Bounded by the objects that users hold, whose number the service limits. When no thread runs the
/// agent any more, a submitting thread runs its submission itself.
///
/// @param <C> the service
public final class SubmissionQueue<C> {

  private static final Logger LOG = LoggerFactory.getLogger(SubmissionQueue.class);

  private final C service;
  private final AtomicReference<@Nullable Submission<C>> top = new AtomicReference<>();
  private final @Nullable Lock lock;
  private @Nullable AgentRunner runner;
  private volatile boolean ended;

  /// Creates the queue of this service.
  ///
  /// @param locked each change of the queue takes a lock, for measurements; otherwise none does
  public SubmissionQueue(C service, boolean locked) {
    this.service = service;
    lock = locked ? new ReentrantLock() : null;
  }

  /// Sets the runner of the progress thread, before the first submission.
  public void runBy(AgentRunner owner) {
    runner = owner;
  }

  /// The runner of the progress thread.
  public AgentRunner runner() {
    return Objects.requireNonNull(runner, "no progress thread");
  }

  /// Queues a submission. Any thread.
  ///
  /// Hot path.
  ///
  /// @param runLeft runs the submissions when no thread runs the agent any more
  public void submit(Submission<C> submission, Runnable runLeft) {
    Lock held = lock;
    if (held == null) {
      add(submission);
    } else {
      held.lock();
      try {
        submission.next = top.get();
        top.set(submission);
      } finally {
        held.unlock();
      }
    }
    VarHandle.fullFence(); // the write above before the read of "parked" and of "over"
    if (ended) {
      runner().runLeft(runLeft);
    } else {
      runner().commandQueued();
    }
  }

  private void add(Submission<C> submission) {
    Submission<C> seen = top.get();
    while (true) {
      submission.next = seen;
      if (top.compareAndSet(seen, submission)) { // releases the submission to take
        return;
      }
      seen = top.get();
    }
  }

  /// Returns whether no thread runs the agent any more and the caller is a callback that was
  /// notified of this. A further request of such a callback must be refused, because otherwise it
  /// would be notified endlessly. Any thread.
  public boolean isEndedInside() {
    return ended && runner().isInside();
  }

  /// Any thread.
  public boolean isEmpty() {
    return top.get() == null;
  }

  /// Enters all submissions, oldest first. Returns their number. An exception ends only the
  /// submission that threw it. Progress thread, or after its end one thread at a time.
  ///
  /// Hot path.
  public int enterAll() {
    int entered = 0;
    Submission<C> submission = take();
    while (submission != null) {
      Submission<C> next = submission.next;
      submission.next = null;
      enter(submission);
      submission = next;
      entered++;
    }
    return entered;
  }

  /// Enters a submission that was made as part of another one or that came from a peer.
  ///
  /// Hot path.
  public void enter(Submission<C> submission) {
    try {
      submission.enter(service);
    } catch (RuntimeException | Error thrown) {
      LOG.error("a submission has thrown, which is a defect", thrown);
      submission.broken(service, thrown);
    }
  }

  private @Nullable Submission<C> take() {
    Submission<C> newest = removeAll();
    Submission<C> oldest = null;
    while (newest != null) {
      Submission<C> below = newest.next;
      newest.next = oldest;
      oldest = newest;
      newest = below;
    }
    return oldest;
  }

  private @Nullable Submission<C> removeAll() {
    Lock held = lock;
    if (held == null) {
      return top.get() == null ? null : top.getAndSet(null);
    }
    held.lock();
    try {
      return top.getAndSet(null);
    } finally {
      held.unlock();
    }
  }

  /// Ends the queue, because no thread runs the agent any more.
  ///
  /// @param runLeft runs the earlier submissions
  public void end(Runnable runLeft) {
    ended = true; // volatile: earlier submissions run here, later ones on their threads
    AgentRunner progress = runner;
    if (progress == null) {
      runLeft.run(); // the mesh ended before any submission
    } else {
      progress.runLeft(runLeft);
    }
  }
}
