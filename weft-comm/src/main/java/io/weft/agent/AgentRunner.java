// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// The runner of one agent's duty cycle: on a thread and on the callers that wait, or in a
/// simulator in virtual time. At most one thread is inside the agent at any time. Any thread,
/// unless stated otherwise.
public interface AgentRunner extends AutoCloseable {

  /// Starts to run the agent. May be called once.
  void start();

  /// Ends the wait of the thread that runs the agent. Must be called after each queued command.
  void commandQueued();

  /// Returns whether the calling thread is inside the agent, as the progress thread or as a caller
  /// that drives the agent, for example in a callback. It must not wait for anything that needs the
  /// next duty cycle.
  boolean isInside();

  /// Returns whether no thread runs the agent any more and the agent has ended all operations in
  /// progress. An operation that is not done by then never completes.
  default boolean isEnded() {
    return false;
  }

  /// Runs the agent on the calling thread until `done` returns true, or until `deadlineNanos` of
  /// the progress thread's clock. Returns false, after a bounded number of attempts to enter, if
  /// another thread is inside. The caller should then park.
  boolean drive(BooleanSupplier done, long deadlineNanos);

  /// Waits until `done` returns true, but not beyond `deadlineNanos` of the progress thread's
  /// clock, and leaves the agent to its thread. `done` is checked every 10 milliseconds and
  /// whenever the calling thread is unparked, and in a simulation after each duty cycle. Returns
  /// whether `done` returned true.
  default boolean await(BooleanSupplier done, long deadlineNanos) throws InterruptedException {
    while (!done.getAsBoolean()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      long left = deadlineNanos - nanos();
      if (left <= 0) {
        return false;
      }
      LockSupport.parkNanos(this, Math.min(left, 10_000_000));
    }
    return true;
  }

  /// Runs a task inside the agent, in a duty cycle at this moment of the progress thread's clock or
  /// soon after it, or when the runner ends. Returns false if the runner has ended; the task then
  /// never runs.
  boolean schedule(long atNanos, Runnable task);

  /// Returns the agent to the progress thread, because the caller that drove it has other work. The
  /// progress thread runs it at once, without the usual delay after a caller has driven it.
  default void leaveToProgressThread() {}

  /// Runs an inline task on the calling thread in place of the agent, if the agent has nothing in
  /// progress and no thread is inside it. Returns whether the inline task has completed; if it was
  /// not begun or took too long, the caller should `drive`. Inline tasks save a short operation the
  /// agent's duty cycles, but the agent still gets one from time to time. The task counts as begun
  /// at `sinceNanos`, the time of its submission, so that a caller that waits at once need not read
  /// the clock again.
  default boolean lend(InlineTask inlineTask, long sinceNanos) {
    return false;
  }

  /// A short task that a caller runs in place of the agent. Called inside the agent.
  interface InlineTask {

    /// Begins the task. Returns false, without any effect, if the task must not run inline.
    boolean begin(long sinceNanos);

    /// Continues without waiting. Returns whether the task has completed.
    boolean advance();

    /// Hands the remaining work to the agent, because the caller stops polling.
    void giveUp();
  }

  /// Runs tasks that were submitted after the last duty cycle, one thread at a time, which counts
  /// as inside. The call has no effect if the calling thread already runs such tasks, as in a
  /// callback: the outer run continues with the new tasks, so the stack does not grow.
  void runLeft(Runnable left);

  /// The progress thread's clock.
  long nanos();

  /// Stops the duty cycle, then closes the agent. A second call has no effect. Throws
  /// `IllegalStateException` inside the agent, because the call would wait for itself.
  @Override
  void close();
}
