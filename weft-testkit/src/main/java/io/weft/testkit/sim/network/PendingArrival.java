// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// Something that waits in a transport until it is polled.
interface PendingArrival {

  /// The transport is polled and takes it.
  void take();
}
