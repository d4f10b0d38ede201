// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// The only clock in the system, read once per duty cycle. It is virtual in a simulation.
@FunctionalInterface
public interface Ticker {

  /// The machine's monotonic clock.
  Ticker SYSTEM = System::nanoTime;

  /// Nanoseconds since an arbitrary origin.
  long nanos();
}
