// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.transport.Transport;
import java.util.Map;

/// The cost of registering memory with a device so far, from a transport's counters. It is zero for
/// a transport without these counters.
///
/// @param calls number of registrations
/// @param bytes number of registered bytes
/// @param nanos time of beginning and ending registrations
record Registrations(long calls, long bytes, long nanos) {

  static Registrations of(Transport transport) {
    Map<String, Long> counted = transport.counters();
    return new Registrations(
        counted.getOrDefault("registrations", 0L),
        counted.getOrDefault("registeredBytes", 0L),
        counted.getOrDefault("registeringNanos", 0L)
            + counted.getOrDefault("deregisteringNanos", 0L));
  }

  /// Returns the cost since `earlier`.
  Registrations since(Registrations earlier) {
    return new Registrations(calls - earlier.calls, bytes - earlier.bytes, nanos - earlier.nanos);
  }
}
