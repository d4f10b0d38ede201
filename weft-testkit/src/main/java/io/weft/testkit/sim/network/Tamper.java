// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import java.util.List;

/// Deliberate violations of the protocol, with which a test shows that the simulation detects a
/// defect of this kind. Production code does not know of them.
public interface Tamper {

  /// No violation.
  Tamper NONE = new Tamper() {};

  /// Returns the messages that arrive in place of this one: itself, none, itself twice, or others.
  ///
  /// @param message as it was sent (docs/protocol); must not be changed
  default List<byte[]> message(int fromRank, int toRank, byte[] message) {
    return List.of(message);
  }

  /// Returns whether the receiver of a remote write is notified twice.
  default boolean tellsTwice(int fromRank, int toRank) {
    return false;
  }

  /// Returns whether a rank that is connected with a process accepts a later process of the same
  /// rank, and its regions, as the first one.
  default boolean takesOldForNew() {
    return false;
  }
}
