// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import io.weft.agent.AgentRunner;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What user threads have submitted to a service, in order for each of them; a submitter never
/// waits. Bounded by what the users hold, of which the service sees to it that it is bounded. When
/// nobody turns the agent any more, whoever submits runs it himself.
///
/// @param <C> the service
public final class SubmissionQueue<C> {

  private static final Logger LOG = LoggerFactory.getLogger(SubmissionQueue.class);

  private final C service;
  private final AtomicReference<@Nullable Submission<C>> top = new AtomicReference<>();
  private @Nullable AgentRunner runner;
  private volatile boolean over;

  /// Of this service.
  public SubmissionQueue(C service) {
    this.service = service;
  }

  /// Tells whose progress thread it is; before the first submission.
  public void runBy(AgentRunner owner) {
    runner = owner;
  }

  /// Whose progress thread it is.
  public AgentRunner runner() {
    return Objects.requireNonNull(runner, "no progress thread");
  }

  /// Any thread.
  ///
  /// Hot path.
  ///
  /// @param runLeft runs what is submitted where nobody turns the agent any more
  public void submit(Submission<C> submission, Runnable runLeft) {
    Submission<C> seen = top.get();
    while (true) {
      submission.next = seen;
      if (top.compareAndSet(seen, submission)) { // releases the submission to take
        break;
      }
      seen = top.get();
    }
    VarHandle.fullFence(); // the write above before the read of "parked" and of "over"
    if (over) {
      runner().runLeft(runLeft);
    } else {
      runner().commandQueued();
    }
  }

  /// Whether nobody turns the agent any more, and the caller is a callback that was told so: what
  /// it asks for again is refused, or it would be told for ever. Any thread.
  public boolean isOverInside() {
    return over && runner().isInside();
  }

  /// Any thread.
  public boolean isEmpty() {
    return top.get() == null;
  }

  /// Enters all that was submitted, oldest first; returns how many. What one throws ends it and no
  /// other. Progress thread; one thread at a time when that is over.
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

  /// Enters one that was submitted as part of another, or that came from a peer.
  ///
  /// Hot path.
  public void enter(Submission<C> submission) {
    try {
      submission.enter(service);
    } catch (RuntimeException | Error thrown) {
      LOG.error("what was submitted has thrown; it must not", thrown);
      submission.broken(service, thrown);
    }
  }

  private @Nullable Submission<C> take() {
    Submission<C> newest = top.get() == null ? null : top.getAndSet(null);
    Submission<C> oldest = null;
    while (newest != null) {
      Submission<C> below = newest.next;
      newest.next = oldest;
      oldest = newest;
      newest = below;
    }
    return oldest;
  }

  /// Nobody turns the agent any more.
  ///
  /// @param runLeft runs what was submitted before
  public void end(Runnable runLeft) {
    over = true; // volatile: what was submitted before is run here, later by its user
    AgentRunner turnedBy = runner;
    if (turnedBy == null) {
      runLeft.run(); // the mesh has ended before anybody could submit
    } else {
      turnedBy.runLeft(runLeft);
    }
  }
}
