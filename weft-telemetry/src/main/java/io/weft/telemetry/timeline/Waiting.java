// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

/// The definition of waiting for other ranks. An operation waits on this rank from its submission
/// until the last rank has submitted it, and at most until it has ended. All times are by one
/// clock. Pure.
public final class Waiting {

  private Waiting() {}

  /// Returns the time at which the waiting of an operation ends, if the last rank submitted it at
  /// `latestNanos`.
  public static long endNanos(long endedNanos, long latestNanos) {
    return Math.min(endedNanos, latestNanos);
  }

  /// Returns how long the operation waited; 0 on the last rank.
  public static long nanos(long submittedNanos, long endedNanos, long latestNanos) {
    return Math.max(0, endNanos(endedNanos, latestNanos) - submittedNanos);
  }
}
