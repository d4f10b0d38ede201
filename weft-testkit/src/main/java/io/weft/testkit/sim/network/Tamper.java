// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import java.util.List;

/// Breaks the protocol on purpose, so that a test shows that the simulation would catch a defect of
/// this kind. Production code knows nothing of it.
public interface Tamper {

  /// Changes nothing.
  Tamper NONE = new Tamper() {};

  /// What arrives in the place of a message, in this order: itself, nothing, itself twice, others.
  ///
  /// @param message as it was sent (docs/protocol); not to be changed
  default List<byte[]> message(int fromRank, int toRank, byte[] message) {
    return List.of(message);
  }

  /// Whether the receiver of a remote write is told twice that it has landed.
  default boolean tellsTwice(int fromRank, int toRank) {
    return false;
  }

  /// Whether whoever is connected with a process of a rank takes another process of that rank, when
  /// it calls, for the same one, and regions of the one for regions of the other.
  default boolean takesOldForNew() {
    return false;
  }
}
