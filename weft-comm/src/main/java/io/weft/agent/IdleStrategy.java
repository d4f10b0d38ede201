// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import java.util.Objects;

/// How a thread that has nothing to do waits: it spins, then yields for a bounded time, then parks,
/// as Agrona's `BackoffIdleStrategy` does. Measured: a peer that sleeps costs 20 to 35
/// microseconds, a yield to a thread that computes a time slice, 3 to 4 milliseconds.
///
/// A yield that comes back late has found the cores crowded by threads that compute, and the next
/// would too: then this thread parks at once for a while, since a sleeper that is woken gets a core
/// soon, where one that yields waits for the end of a time slice again and again. The while doubles
/// as long as each yield after it comes late again (docs/adr/0038-idle-strategy.md).
///
/// Confined to one thread at a time.
public final class IdleStrategy {

  /// Longer than the slice that a foreign thread gets once it has a core.
  private static final long BEYOND_A_SLICE_NANOS = 5_000_000;

  /// Longer than a small step of a graph takes between two of its messages.
  private static final long SMALL_STEP_NANOS = 200_000;

  /// Threads that wait themselves, and ranks that share the core, give it back sooner.
  private static final long LATE_NANOS = 2_000_000;

  private static final long SHORTEST_CROWD_NANOS = 2_000_000;
  private static final long LONGEST_CROWD_NANOS = 256_000_000;

  private final Ticker ticker;
  private final int spins;
  private final long spinNanos;
  private final long yieldNanos;
  private int turns;
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

  /// Spins for a time, then yields for a time.
  static IdleStrategy of(Ticker ticker, long spinNanos, long yieldNanos) {
    return new IdleStrategy(ticker, 0, spinNanos, yieldNanos);
  }

  /// For a caller that waits for its own operation: it has nothing else to do, so it spins where
  /// each local rank has a core of its own, for longer than a rank is away whose core some other
  /// program got: who gives up his core for that gives the other program one more slice. Where
  /// ranks share cores the one that is waited for needs this core: it is passed round by yields,
  /// which cost a microsecond.
  public static IdleStrategy forCaller(Ticker ticker, int localRanks, int cores) {
    Objects.requireNonNull(ticker, "ticker");
    return localRanks <= cores
        ? of(ticker, BEYOND_A_SLICE_NANOS, 50_000)
        : of(ticker, 0, 10_000_000);
  }

  /// For the progress thread itself: it shares the cores with the framework's computation, so it
  /// hardly spins. It yields through a small step of a graph, so that it does not have to be woken
  /// for each message, unless there are more ranks than cores: then others have work to do
  /// meanwhile.
  public static IdleStrategy forRunner(Ticker ticker, int localRanks, int cores) {
    Objects.requireNonNull(ticker, "ticker");
    if (localRanks > cores) {
      return of(ticker, 0, 20_000);
    }
    return of(ticker, 2 * localRanks <= cores ? 100_000 : 5_000, SMALL_STEP_NANOS);
  }

  /// The same, but for so many turns of a spin instead of a time. Throws `IllegalArgumentException`
  /// if negative.
  public IdleStrategy spinning(int polls) {
    if (polls < 0) {
      throw new IllegalArgumentException("spins " + polls + " turns, expected at least 0");
    }
    return new IdleStrategy(ticker, polls, 0, yieldNanos);
  }

  /// There was something to do.
  public void reset() {
    turns = 0;
    yielding = false;
  }

  /// Waits a turn. Returns false, at once, where it is time to park instead.
  ///
  /// Hot path.
  public boolean idle() {
    return idle(ticker.nanos());
  }

  /// The same for a thread whose turn, in which there was nothing to do, began at this time.
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

  /// What follows the last spin is idle since then, for the yields.
  private boolean isSpinning(long now) {
    if (turns == 0) {
      idleSince = now;
    }
    if (turns < spins || now - idleSince < spinNanos) {
      turns++;
      return true;
    }
    yielding = true;
    idleSince = now;
    return false;
  }
}
