// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// One waiter's patience, by its policy. A yield that comes back late has found the cores crowded
/// by threads that compute, and the next would too: then this waiter parks at once for a while,
/// since a sleeper that is woken gets a core soon, where one that yields waits for the end of a
/// time slice again and again. The while doubles as long as each yield after it comes late again.
/// Confined to one thread at a time.
public final class IdleState {

  private static final long SHORTEST_CROWD_NANOS = 2_000_000;
  private static final long LONGEST_CROWD_NANOS = 256_000_000;

  private final IdleStrategy policy;
  private final Ticker ticker;
  private int turns;
  private long yieldingSince;
  private long crowdedSince;
  private long crowdNanos;

  /// Has all of it.
  public IdleState(IdleStrategy policy, Ticker ticker) {
    this.policy = policy;
    this.ticker = ticker;
  }

  /// There was something to do.
  public void renew() {
    turns = 0;
  }

  /// Waits a turn. Returns whether it is time to park instead.
  ///
  /// Hot path.
  public boolean isOver() {
    return isOver(ticker.nanos());
  }

  /// The same for a waiter whose turn, in which there was nothing to do, began at this time.
  ///
  /// Hot path.
  boolean isOver(long now) {
    if (turns < policy.spins()) {
      turns++;
      Thread.onSpinWait();
      return false;
    }
    if (turns == policy.spins()) {
      turns++;
      yieldingSince = now + policy.spinNanos();
    }
    if (now < yieldingSince) {
      Thread.onSpinWait();
      return false;
    }
    boolean crowded = crowdNanos > 0 && now - crowdedSince < crowdNanos;
    if (crowded || now - yieldingSince >= policy.yieldNanos()) {
      return true;
    }
    Thread.yield();
    long back = ticker.nanos();
    if (back - now > policy.lateNanos()) {
      crowdNanos = Math.clamp(2 * crowdNanos, SHORTEST_CROWD_NANOS, LONGEST_CROWD_NANOS);
      crowdedSince = back;
    } else {
      crowdNanos = 0;
    }
    return false;
  }
}
