// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// An arrival that waits in a transport until the transport is polled.
interface PendingArrival {

  /// Takes the arrival, when the transport is polled.
  void take();
}
