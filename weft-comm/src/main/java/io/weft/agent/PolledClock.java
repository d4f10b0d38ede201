// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// A clock that advances with the progress thread's clock, except that each standstill counts as at
/// most 100 ms. In a standstill no thread runs the agent: because of a garbage collection, a
/// debugger, a signal, a lack of processors, or a clock that jumps. An agent that judges its peers
/// by this clock does not blame them for messages that it did not read itself. Pure; confined to
/// the progress thread.
public final class PolledClock {

  /// The longest gap between two duty cycles that is not a standstill. Agents run at least every 30
  /// ms.
  public static final long STANDSTILL_NANOS = 100_000_000L;

  private long lastNanos;
  private long nanos;
  private long standstillNanos;
  private long standstillEnd;
  private boolean started;

  /// Creates a clock at 0.
  public PolledClock() {}

  /// Advances the clock, once per duty cycle. Returns the length of the standstill before this duty
  /// cycle, 0 if there was none.
  ///
  /// Hot path.
  public long update(long nowNanos) {
    long gap = started ? nowNanos - lastNanos : 0;
    started = true;
    lastNanos = nowNanos;
    if (gap <= STANDSTILL_NANOS) {
      nanos += Math.max(0, gap);
      return 0;
    }
    nanos += STANDSTILL_NANOS;
    standstillNanos = gap;
    standstillEnd = nowNanos;
    return gap;
  }

  /// The time of this clock since the agent's first duty cycle.
  public long nanos() {
    return nanos;
  }

  /// Returns whether a standstill has ended after this moment of the progress thread's clock.
  public boolean stoodStillSince(long thenNanos) {
    return standstillNanos > 0 && standstillEnd - thenNanos > 0;
  }

  /// Length of the last standstill by the progress thread's clock, 0 if there was none.
  public long standstillNanos() {
    return standstillNanos;
  }
}
