// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// One direction of a network card: serves one message at a time, in order.
final class NetworkPort {

  private long freeNanos;

  /// Keeps the port busy so long, from `nanos` at the earliest; returns from when.
  long take(long nanos, long busyNanos) {
    long start = Math.max(nanos, freeNanos);
    freeNanos = start + busyNanos;
    return start;
  }
}
