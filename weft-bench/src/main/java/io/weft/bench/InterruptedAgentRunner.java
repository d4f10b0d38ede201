// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.agent.AgentRunner;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A progress thread that runs an interruption once for each lent inline task: after the task has
/// begun, or, if it does not begin, after it was refused. Only one caller at a time may use it.
final class InterruptedAgentRunner implements AgentRunner, AgentRunner.InlineTask {

  private final AgentRunner real;
  private final Interruption interruption;
  private @Nullable InlineTask lent;
  private boolean played;

  /// The interruption, which runs on the caller's thread.
  interface Interruption {

    /// Runs after the inline task has begun.
    void inside();

    /// Runs if the inline task has not begun.
    void instead();
  }

  InterruptedAgentRunner(AgentRunner real, Interruption interruption) {
    this.real = real;
    this.interruption = interruption;
  }

  @Override
  public boolean lend(InlineTask inlineTask, long sinceNanos) {
    lent = inlineTask;
    played = false;
    boolean ended = real.lend(this, sinceNanos);
    if (!played) {
      interruption.instead();
    }
    return ended;
  }

  // --- The inline task.

  @Override
  public boolean begin(long sinceNanos) {
    boolean begun = lent().begin(sinceNanos);
    if (begun) {
      played = true;
      interruption.inside();
    }
    return begun;
  }

  @Override
  public boolean advance() {
    return lent().advance();
  }

  @Override
  public void giveUp() {
    lent().giveUp();
  }

  private InlineTask lent() {
    return Objects.requireNonNull(lent);
  }

  // --- The progress thread.

  @Override
  public void start() {
    real.start();
  }

  @Override
  public void commandQueued() {
    real.commandQueued();
  }

  @Override
  public void runLeft(Runnable left) {
    real.runLeft(left);
  }

  @Override
  public boolean isInside() {
    return real.isInside();
  }

  @Override
  public boolean isEnded() {
    return real.isEnded();
  }

  @Override
  public boolean drive(BooleanSupplier done, long deadlineNanos) {
    return real.drive(done, deadlineNanos);
  }

  @Override
  public boolean schedule(long atNanos, Runnable task) {
    return real.schedule(atNanos, task);
  }

  @Override
  public long nanos() {
    return real.nanos();
  }

  @Override
  public void close() {
    real.close();
  }
}
