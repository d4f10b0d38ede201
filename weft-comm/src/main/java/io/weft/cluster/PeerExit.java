// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Objects;

/// The exit of a peer.
public sealed interface PeerExit {

  /// The peer has said goodbye and can no longer be lost.
  record Left() implements PeerExit {}

  /// The peer is lost for all ranks. A rank that still reaches it gives it up too.
  ///
  /// @param witness the rank that noticed the loss, possibly this one
  /// @param why the reason, in words, equal on all ranks that learned of it from this witness
  /// @param where the operations in which the witness waited, in words; empty if the witness is
  ///   this rank or waited in none
  record Lost(int witness, String why, String where) implements PeerExit {
    /// Throws `NullPointerException` if a component is null.
    public Lost {
      Objects.requireNonNull(why, "why");
      Objects.requireNonNull(where, "where");
    }
  }
}
