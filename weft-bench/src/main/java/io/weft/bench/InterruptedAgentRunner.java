// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.agent.AgentRunner;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A lane that runs an interlude once in each errand that it is lent for: when the errand has
/// begun, or, where it does not begin, after it was refused. One caller at a time.
final class InterruptedAgentRunner implements AgentRunner, AgentRunner.Errand {

  private final AgentRunner real;
  private final Interlude interlude;
  private @Nullable Errand lent;
  private boolean played;

  /// What is run, on the caller's thread.
  interface Interlude {

    /// The errand has begun.
    void inside();

    /// It does not begin.
    void instead();
  }

  InterruptedAgentRunner(AgentRunner real, Interlude interlude) {
    this.real = real;
    this.interlude = interlude;
  }

  @Override
  public boolean lend(Errand errand, long sinceNanos) {
    lent = errand;
    played = false;
    boolean over = real.lend(this, sinceNanos);
    if (!played) {
      interlude.instead();
    }
    return over;
  }

  // --- the errand

  @Override
  public boolean begin(long sinceNanos) {
    boolean begun = lent().begin(sinceNanos);
    if (begun) {
      played = true;
      interlude.inside();
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

  private Errand lent() {
    return Objects.requireNonNull(lent);
  }

  // --- the lane

  @Override
  public void start() {
    real.start();
  }

  @Override
  public void commandQueued() {
    real.commandQueued();
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
