// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import java.util.function.BooleanSupplier;

/// What turns one agent's duty cycle: a thread and the callers that wait, or a simulator in virtual
/// time. At any time at most one thread is inside the agent. Any thread, unless said otherwise.
public interface AgentRunner extends AutoCloseable {

  /// Begins to turn the agent. Once.
  void start();

  /// Call after a command was queued: ends the wait of whoever turns the agent.
  void commandQueued();

  /// Whether the calling thread is inside the agent, its own thread or a caller that turns it, as
  /// in a callback: it must not wait for what only the next turn can bring.
  boolean isInside();

  /// Whether nobody turns the agent any more, and it has ended all that was under way. What is not
  /// done then never will be.
  default boolean isOver() {
    return false;
  }

  /// Turns the agent for the calling thread until `done`, or until `deadlineNanos` of the progress
  /// thread's clock. Returns false, after a bounded number of tries to enter, if another thread is
  /// turning it; then the caller should park.
  boolean drive(BooleanSupplier done, long deadlineNanos);

  /// The caller has driven the agent, and does something else now: the progress thread turns it
  /// again at once, and does not leave it to callers for a while.
  default void leaveToProgressThread() {}

  /// Runs an inline task in the agent's place on the calling thread, if the agent has nothing under
  /// way and nobody is inside it. Returns whether the inline task is over; if not, because it was
  /// not begun or took too long, the caller should `drive`. Saves a short operation the agent's
  /// turns; the agent gets one now and then all the same. It counts as begun at `sinceNanos`, when
  /// it was submitted: a caller that waits at once need not read the clock again.
  default boolean lend(InlineTask inlineTask, long sinceNanos) {
    return false;
  }

  /// Something short that a caller does in the agent's place. Called inside the agent.
  interface InlineTask {

    /// Begins; false if it must not be done so, and then nothing has happened.
    boolean begin(long sinceNanos);

    /// Goes on, without waiting; returns whether it is over.
    boolean advance();

    /// The caller's patience is over: what is left becomes the agent's.
    void giveUp();
  }

  /// Runs what was submitted after the last turn, on the calling thread, one thread at a time,
  /// which is inside meanwhile. Does nothing where that thread runs such already, as in a callback:
  /// then the run that it is in goes on with what it has submitted, and so the stack does not grow.
  void runLeft(Runnable left);

  /// The progress thread's clock.
  long nanos();

  /// Ends the turning, then closes the agent. A second call has no effect. Throws
  /// `IllegalStateException` inside the agent, which would wait for itself.
  @Override
  void close();
}
