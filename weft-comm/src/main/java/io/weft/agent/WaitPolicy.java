// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// How a thread that has nothing to do waits: it spins, then yields for a bounded time, then parks.
/// `Patience` follows it. Measured: a peer that sleeps costs 20 to 35 microseconds, a spin of 2000
/// turns about 70; a yield to a thread that computes costs a time slice, about 4 milliseconds.
///
/// @param spins turns with a pause hint
/// @param yieldNanos nanoseconds of turns with a yield, after the spins
public record WaitPolicy(int spins, long yieldNanos) {

  /// Throws `IllegalArgumentException` for what is negative.
  public WaitPolicy {
    if (spins < 0 || yieldNanos < 0) {
      throw new IllegalArgumentException(
          "negative: " + spins + " spins, yields for " + yieldNanos + " ns");
    }
  }

  /// For a caller that waits for its own operation: it has nothing else to do, so it spins where
  /// each local rank has a core of its own. Where ranks share cores the one that is waited for
  /// needs this core: it is passed round by yields, which cost a microsecond.
  public static WaitPolicy forCaller(int localRanks, int cores) {
    return localRanks <= cores ? new WaitPolicy(2000, 50_000) : new WaitPolicy(0, 10_000_000);
  }

  /// For the lane's own thread: it shares the cores with the framework's computation, so it hardly
  /// spins.
  public static WaitPolicy forLane(int localRanks, int cores) {
    return 2 * localRanks <= cores ? new WaitPolicy(1000, 50_000) : new WaitPolicy(20, 20_000);
  }
}
