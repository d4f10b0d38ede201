// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.agent.AgentRunner;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A progress thread that runs an interlude once in each inline task that it is lent for: when the
/// inline task has begun, or, where it does not begin, after it was refused. One caller at a time.
final class InterruptedAgentRunner implements AgentRunner, AgentRunner.InlineTask {

  private final AgentRunner real;
  private final Interruption interruption;
  private @Nullable InlineTask lent;
  private boolean played;

  /// What is run, on the caller's thread.
  interface Interruption {

    /// The inline task has begun.
    void inside();

    /// It does not begin.
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
    boolean over = real.lend(this, sinceNanos);
    if (!played) {
      interruption.instead();
    }
    return over;
  }

  // --- the inline task

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

  // --- the progress thread

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
  public boolean isOver() {
    return real.isOver();
  }

  @Override
  public boolean drive(BooleanSupplier done, long deadlineNanos) {
    return real.drive(done, deadlineNanos);
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
