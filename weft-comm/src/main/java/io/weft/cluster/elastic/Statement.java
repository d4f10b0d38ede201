// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.BitSet;

/// What a rank says in an agreement. A later statement of the same rank replaces the one before.
///
/// @param stage how far it is
/// @param view what it believes
/// @param pledged ranks that join, with which it or others have committed to enter the next epoch
///   after the view's base
record Statement(Stage stage, MembershipView view, BitSet pledged) {

  enum Stage {
    /// It takes part, and believes this.
    PROPOSE(1),
    /// It has heard this same view from all who are left, and will enter its target with them or
    /// not at all.
    COMMIT(2);

    private final int code;

    Stage(int code) {
      this.code = code;
    }

    /// On the wire.
    int code() {
      return code;
    }
  }
}
