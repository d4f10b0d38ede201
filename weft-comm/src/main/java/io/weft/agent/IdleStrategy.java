// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import java.util.Objects;

/// The waiting policy of an idle thread: it spins, then yields for a bounded time, then parks, as
/// Agrona's `BackoffIdleStrategy` does. In measurements, waking a sleeping peer costs 20 to 35
/// microseconds, and a yield to a computing thread costs a time slice, 3 to 4 milliseconds.
///
/// A yield that returns late shows that computing threads crowd the cores, so the next yield would
/// return late too. The thread then parks at once for a while, because a woken sleeper gets a core
/// soon, whereas a yielding thread waits for the end of a time slice each time. This period doubles
/// while each first yield after it returns late again (docs/adr/0038-idle-strategy.md).
///
/// Confined to one thread at a time.
public final class IdleStrategy {

  /// Longer than the interval between two messages of a small graph step.
  private static final long SMALL_STEP_NANOS = 200_000;

  /// Ranks that share the core, and threads that wait themselves, give it back sooner than this.
  private static final long LATE_NANOS = 2_000_000;

  private static final long SHORTEST_CROWD_NANOS = 2_000_000;
  private static final long LONGEST_CROWD_NANOS = 256_000_000;

  private final Ticker ticker;
  private final int spins;
  private final long spinNanos;
  private final long yieldNanos;
  private int idleCycles;
  private long idleSince;
  private boolean yielding;
  private long crowdedSince;
  private long crowdNanos;

  private IdleStrategy(Ticker ticker, int spins, long spinNanos, long yieldNanos) {
    this.ticker = ticker;
    this.spins = spins;
    this.spinNanos = spinNanos;
    this.yieldNanos = yieldNanos;
  }

  /// Returns a strategy that spins for a time, then yields for a time.
  static IdleStrategy of(Ticker ticker, long spinNanos, long yieldNanos) {
    return new IdleStrategy(ticker, 0, spinNanos, yieldNanos);
  }

  /// Returns the strategy of a caller that waits for its own operation and has no other work. If
  /// each local rank has a core, the caller spins for `spinNanos`, which should be longer than a
  /// rank is preempted by another program, because yielding its core would grant that program one
  /// more time slice. If ranks share cores, the awaited rank needs this core, so the caller yields
  /// at once; such a yield costs a microsecond.
  public static IdleStrategy forCaller(Ticker ticker, int localRanks, int cores, long spinNanos) {
    Objects.requireNonNull(ticker, "ticker");
    return localRanks <= cores ? of(ticker, spinNanos, 50_000) : of(ticker, 0, 10_000_000);
  }

  /// Returns the strategy of the progress thread. It shares the cores with the framework's
  /// computation, so it spins only briefly. It yields throughout a small step of a graph, so that a
  /// message need not wake it. If there are more ranks than cores, it yields only briefly, because
  /// other ranks have work.
  public static IdleStrategy forRunner(Ticker ticker, int localRanks, int cores) {
    Objects.requireNonNull(ticker, "ticker");
    if (localRanks > cores) {
      return of(ticker, 0, 20_000);
    }
    return of(ticker, 2 * localRanks <= cores ? 100_000 : 5_000, SMALL_STEP_NANOS);
  }

  /// Returns this strategy with a number of spins in place of a spinning time. Throws
  /// `IllegalArgumentException` if `polls` is negative.
  public IdleStrategy spinning(int polls) {
    if (polls < 0) {
      throw new IllegalArgumentException("spins " + polls + " polls, expected at least 0");
    }
    return new IdleStrategy(ticker, polls, 0, yieldNanos);
  }

  /// Restarts the waiting, after a duty cycle did work.
  public void reset() {
    idleCycles = 0;
    yielding = false;
  }

  /// Waits for one step. Returns false, at once, if the thread should park instead.
  ///
  /// Hot path.
  public boolean idle() {
    return idle(ticker.nanos());
  }

  /// Waits for one step, for a thread whose duty cycle without work began at `now`.
  ///
  /// Hot path.
  boolean idle(long now) {
    if (!yielding && isSpinning(now)) {
      Thread.onSpinWait();
      return true;
    }
    boolean crowded = crowdNanos > 0 && now - crowdedSince < crowdNanos;
    if (crowded || now - idleSince >= yieldNanos) {
      return false;
    }
    Thread.yield();
    long back = ticker.nanos();
    if (back - now > LATE_NANOS) {
      crowdNanos = Math.clamp(2 * crowdNanos, SHORTEST_CROWD_NANOS, LONGEST_CROWD_NANOS);
      crowdedSince = back;
    } else {
      crowdNanos = 0;
    }
    return true;
  }

  /// Returns whether the thread still spins. The yielding time starts at the last spin.
  private boolean isSpinning(long now) {
    if (idleCycles == 0) {
      idleSince = now;
    }
    if (idleCycles < spins || now - idleSince < spinNanos) {
      idleCycles++;
      return true;
    }
    yielding = true;
    idleSince = now;
    return false;
  }
}
