// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// How a thread that has nothing to do waits: it spins, then yields a bounded number of times, then
/// parks. Measured: a peer that sleeps costs 20 to 35 microseconds, a spin of 2000 turns about 70;
/// a yield for ever gives a busy neighbour every slice.
///
/// @param spins turns with a pause hint
/// @param yields turns with a yield, after the spins
public record WaitPolicy(int spins, int yields) {

  /// Throws `IllegalArgumentException` for negative counts.
  public WaitPolicy {
    if (spins < 0 || yields < 0) {
      throw new IllegalArgumentException(
          "negative counts: " + spins + " spins, " + yields + " yields");
    }
  }

  /// For a caller that waits for its own operation: it has nothing else to do, so it spins where
  /// each local rank has a core of its own.
  public static WaitPolicy forCaller(int localRanks, int cores) {
    return localRanks <= cores ? new WaitPolicy(2000, 50) : new WaitPolicy(50, 50);
  }

  /// For the lane's own thread: it shares the cores with the framework's computation, so it hardly
  /// spins.
  public static WaitPolicy forLane(int localRanks, int cores) {
    return 2 * localRanks <= cores ? new WaitPolicy(1000, 50) : new WaitPolicy(20, 20);
  }

  /// Waits once; `idleTurns` counts the fruitless turns so far. Returns whether it is time to park.
  public boolean idle(int idleTurns) {
    if (idleTurns <= spins) {
      Thread.onSpinWait();
      return false;
    }
    if (idleTurns <= spins + yields) {
      Thread.yield();
      return false;
    }
    return true;
  }
}
