// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// A process as the network sees it: where it is, and how it is told that something has come.
public interface SimNode {

  /// Its rank.
  int rank();

  /// Number of its host.
  int host();

  /// Which process of this rank, from 0.
  int incarnation();

  /// Something has come for its transport, which is to be polled when the process can.
  void stir();

  /// Waits on the polling thread until something comes or so much time has passed.
  void await(long maxNanos);
}
