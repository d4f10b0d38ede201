// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// One direction of a network card, which serves one message at a time, in order.
final class NetworkPort {

  private long freeNanos;

  /// Occupies the port for this time, from `nanos` at the earliest; returns the start.
  long take(long nanos, long busyNanos) {
    long start = Math.max(nanos, freeNanos);
    freeNanos = start + busyNanos;
    return start;
  }
}
