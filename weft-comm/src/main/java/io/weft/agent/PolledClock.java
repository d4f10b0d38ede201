// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// The time in which an agent looked: it goes with the progress thread's clock, but however long
/// nothing turned the agent (a garbage collection, a debugger, a signal, no processor, a clock that
/// jumps), one such standstill counts as at most 100 ms. Who judges others by this clock does not
/// blame them for what it did not hear itself. Pure; confined to the progress thread.
public final class PolledClock {

  /// The longest gap between two turns that is not a standstill. Agents are turned at least every
  /// 30 ms.
  public static final long STANDSTILL_NANOS = 100_000_000L;

  private long lastTurn;
  private long nanos;
  private long standstillNanos;
  private long standstillEnd;
  private boolean started;

  /// Stands at 0.
  public PolledClock() {}

  /// Once per duty cycle. Returns how long this agent stood still before, 0 if it did not.
  ///
  /// Hot path.
  public long turn(long nowNanos) {
    long gap = started ? nowNanos - lastTurn : 0;
    started = true;
    lastTurn = nowNanos;
    if (gap <= STANDSTILL_NANOS) {
      nanos += Math.max(0, gap);
      return 0;
    }
    nanos += STANDSTILL_NANOS;
    standstillNanos = gap;
    standstillEnd = nowNanos;
    return gap;
  }

  /// The time in which this agent looked, since its first turn.
  public long nanos() {
    return nanos;
  }

  /// Whether a standstill has ended after this moment of the progress thread's clock.
  public boolean stoodStillSince(long thenNanos) {
    return standstillNanos > 0 && standstillEnd - thenNanos > 0;
  }

  /// Length of the last standstill by the progress thread's clock, 0 if there was none.
  public long standstillNanos() {
    return standstillNanos;
  }
}
