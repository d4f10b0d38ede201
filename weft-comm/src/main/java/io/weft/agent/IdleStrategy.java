// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// How a thread that has nothing to do waits: it spins, then yields for a bounded time, then parks.
/// `IdleState` follows it. Measured: a peer that sleeps costs 20 to 35 microseconds, a spin of 2000
/// turns about 70; a yield to a thread that computes costs a time slice, about 4 milliseconds.
///
/// @param spins turns with a pause hint, at least
/// @param spinNanos nanoseconds of more such turns
/// @param yieldNanos nanoseconds of turns with a yield, after the spins
/// @param lateNanos a yield that took longer has found the cores crowded by threads that compute
public record IdleStrategy(int spins, long spinNanos, long yieldNanos, long lateNanos) {

  /// Longer than the slice that a foreign thread gets once it has a core (docs/adr/0044).
  private static final long BEYOND_A_SLICE_NANOS = 5_000_000;

  private static final long SMALL_STEP_NANOS = 200_000;

  /// Threads that wait themselves give the core back sooner.
  private static final long LATE_NANOS = 300_000;

  /// Ranks that share a core do their own share of an operation on it, a piece after the other, and
  /// give it back when they wait: sooner than the end of a slice, which a computing thread uses up
  /// (docs/adr/0061).
  private static final long LATE_AMONG_RANKS_NANOS = 2_000_000;

  /// Throws `IllegalArgumentException` for what is negative.
  public IdleStrategy {
    if (spins < 0 || spinNanos < 0 || yieldNanos < 0 || lateNanos < 0) {
      throw new IllegalArgumentException(
          "negative: %d spins, spins for %d ns, yields for %d ns, late after %d ns"
              .formatted(spins, spinNanos, yieldNanos, lateNanos));
    }
  }

  /// The same, but for `turns` of a spin instead of a time.
  public IdleStrategy spinning(int turns) {
    return new IdleStrategy(turns, 0, yieldNanos, lateNanos);
  }

  /// For a caller that waits for its own operation: it has nothing else to do, so it spins where
  /// each local rank has a core of its own, for longer than a rank is away whose core some other
  /// program got: who gives up his core for that gives the other program one more slice. Where
  /// ranks share cores the one that is waited for needs this core: it is passed round by yields,
  /// which cost a microsecond.
  public static IdleStrategy forCaller(int localRanks, int cores) {
    return localRanks <= cores
        ? new IdleStrategy(0, BEYOND_A_SLICE_NANOS, 50_000, LATE_NANOS)
        : new IdleStrategy(0, 0, 10_000_000, LATE_AMONG_RANKS_NANOS);
  }

  /// For the progress thread itself: it shares the cores with the framework's computation, so it
  /// hardly spins. It yields for longer than a small step of a graph takes between two of its
  /// messages, so that it does not have to be woken for each, unless there are more ranks than
  /// cores: then others have work to do meanwhile (docs/adr/0059).
  public static IdleStrategy forRunner(int localRanks, int cores) {
    if (localRanks > cores) {
      return new IdleStrategy(20, 0, 20_000, LATE_NANOS);
    }
    int spins = 2 * localRanks <= cores ? 1000 : 20;
    return new IdleStrategy(spins, 0, SMALL_STEP_NANOS, LATE_NANOS);
  }
}
