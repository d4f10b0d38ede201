// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.agent.AgentRunner;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What user threads have submitted, in order for each of them; a submitter never waits. Its length
/// is bounded by the tensors and receives that the users hold. When nobody turns the agent any
/// more, whoever submits runs it himself.
final class Submissions {

  private final AtomicReference<@Nullable Submission> top = new AtomicReference<>();
  private @Nullable AgentRunner runner;
  private volatile boolean over;

  /// Tells whose progress thread it is; before the first submission.
  void runBy(AgentRunner owner) {
    runner = owner;
  }

  /// Any thread.
  ///
  /// Hot path.
  void submit(Submission submission, MeshRendezvous rendezvous) {
    Submission seen = top.get();
    while (true) {
      submission.next = seen;
      if (top.compareAndSet(seen, submission)) { // releases the submission to take
        break;
      }
      seen = top.get();
    }
    VarHandle.fullFence(); // the write above before the read of "parked" and of "over"
    if (over) {
      rendezvous.runLeft();
    } else {
      Objects.requireNonNull(runner, "no progress thread").commandQueued();
    }
  }

  /// Any thread.
  boolean isEmpty() {
    return top.get() == null;
  }

  /// All that was submitted, oldest first, linked by `next`; null if nothing was.
  ///
  /// Hot path.
  @Nullable Submission take() {
    Submission newest = top.get() == null ? null : top.getAndSet(null);
    Submission oldest = null;
    while (newest != null) {
      Submission below = newest.next;
      newest.next = oldest;
      oldest = newest;
      newest = below;
    }
    return oldest;
  }

  /// Nobody turns the agent any more.
  void end() {
    over =
        true; // volatile: what was submitted before is run by who calls this, later by submitters
  }
}
