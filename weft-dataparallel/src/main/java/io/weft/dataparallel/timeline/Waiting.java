// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

/// What waiting for other ranks is, wherever it is told: of an operation, the time from its
/// submission on this rank until the last rank has submitted it, and at most until it has ended.
/// All times are by one clock. Pure.
public final class Waiting {

  private Waiting() {}

  /// Returns when the waiting of an operation is over that was submitted on the last rank at
  /// `latestNanos`.
  public static long endNanos(long endedNanos, long latestNanos) {
    return Math.min(endedNanos, latestNanos);
  }

  /// Returns how long the operation waited; 0 on the last rank.
  public static long nanos(long submittedNanos, long endedNanos, long latestNanos) {
    return Math.max(0, endNanos(endedNanos, latestNanos) - submittedNanos);
  }
}
