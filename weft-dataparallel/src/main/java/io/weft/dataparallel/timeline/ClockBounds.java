// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

/// What messages between two ranks say of their clocks. A message that this rank got was sent
/// before: so this clock is ahead by at most the difference of the two times; one that it sent
/// bounds from below. The quickest messages give the tightest bounds, as in NTP. One thread.
final class ClockBounds {

  private long least = Long.MIN_VALUE;
  private long most = Long.MAX_VALUE;

  ClockBounds() {}

  /// Rank 0 sent something at `zeroNanos`, which was here at `ownNanos`, each by its own clock.
  void received(long zeroNanos, long ownNanos) {
    most = Math.min(most, ownNanos - zeroNanos);
  }

  /// This rank sent something at `ownNanos`, which was at rank 0 at `zeroNanos`.
  void sent(long ownNanos, long zeroNanos) {
    least = Math.max(least, ownNanos - zeroNanos);
  }

  /// The middle between the bounds. Throws `IllegalStateException` while one is missing.
  ClockSample sample(long nanos) {
    if (least == Long.MIN_VALUE || most == Long.MAX_VALUE) {
      throw new IllegalStateException("no message in one of the two directions");
    }
    // A clock that was set back between two messages may have bounds that exclude each other.
    long uncertainty = Math.abs(most - least) / 2;
    return new ClockSample(nanos, least + (most - least) / 2, uncertainty);
  }
}
