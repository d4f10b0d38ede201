// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.transport.Transport;
import java.util.Map;

/// What registering memory with a device has cost a transport so far, by its counters; zero where
/// it counts nothing.
///
/// @param calls that registered
/// @param bytes that they registered
/// @param nanos that they took, and those that ended registrations
record Registrations(long calls, long bytes, long nanos) {

  static Registrations of(Transport transport) {
    Map<String, Long> counted = transport.counters();
    return new Registrations(
        counted.getOrDefault("registrations", 0L),
        counted.getOrDefault("registeredBytes", 0L),
        counted.getOrDefault("registeringNanos", 0L)
            + counted.getOrDefault("deregisteringNanos", 0L));
  }

  /// What has been added since `earlier`.
  Registrations since(Registrations earlier) {
    return new Registrations(calls - earlier.calls, bytes - earlier.bytes, nanos - earlier.nanos);
  }
}
