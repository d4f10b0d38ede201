// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

/// Bounds of the offset between a rank's clock and rank 0's, from messages between the two. A
/// received message was sent earlier, so this clock is ahead by at most the difference of the two
/// times. A sent message gives the lower bound. The fastest messages give the tightest bounds, as
/// in NTP. One thread.
final class ClockBounds {

  private long least = Long.MIN_VALUE;
  private long most = Long.MAX_VALUE;

  ClockBounds() {}

  /// Adds a message that rank 0 sent at `zeroNanos` and this rank received at `ownNanos`, each by
  /// its own clock.
  void received(long zeroNanos, long ownNanos) {
    most = Math.min(most, ownNanos - zeroNanos);
  }

  /// Adds a message that this rank sent at `ownNanos` and rank 0 received at `zeroNanos`.
  void sent(long ownNanos, long zeroNanos) {
    least = Math.max(least, ownNanos - zeroNanos);
  }

  /// Returns the middle between the bounds. Throws `IllegalStateException` while a bound is
  /// missing.
  ClockSample sample(long nanos) {
    if (least == Long.MIN_VALUE || most == Long.MAX_VALUE) {
      throw new IllegalStateException("no message in one of the two directions");
    }
    // If a clock was set back between two messages, the bounds may be reversed.
    long uncertainty = Math.abs(most - least) / 2;
    return new ClockSample(nanos, least + (most - least) / 2, uncertainty);
  }
}
