// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// A process from the network's view: its place, and the notification of arrivals.
public interface SimNode {

  /// Returns its rank.
  int rank();

  /// Returns the number of its host.
  int host();

  /// Returns the number of this process among those of its rank, from 0.
  int incarnation();

  /// Notifies the process of an arrival; it polls its transport when it can.
  void stir();

  /// Waits on the polling thread until something arrives or this time has passed.
  void await(long maxNanos);
}
