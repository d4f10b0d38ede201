// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Objects;

/// How a peer went.
public sealed interface PeerExit {

  /// It has said good-bye; it will not be lost any more.
  record Left() implements PeerExit {}

  /// It is lost to all: also those that still reach it give it up.
  ///
  /// @param witness the rank that noticed it, perhaps this one
  /// @param why in words, the same on all ranks that learned of it from this witness
  /// @param where what the witness waited in, in words; empty where it is this rank, or waited in
  ///   nothing
  record Lost(int witness, String why, String where) implements PeerExit {
    /// Throws `NullPointerException` where a part is missing.
    public Lost {
      Objects.requireNonNull(why, "why");
      Objects.requireNonNull(where, "where");
    }
  }
}
