// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.BitSet;

/// A rank's statement in an agreement. A later statement of the same rank replaces the earlier one.
///
/// @param stage the rank's progress
/// @param view the rank's view
/// @param pledged joiners with which this rank or others have committed to enter the next epoch
///   after the view's base
record Statement(Stage stage, MembershipView view, BitSet pledged) {

  enum Stage {
    /// The rank takes part and has this view.
    PROPOSE(1),
    /// The rank has received this same view from all remaining ranks. It will enter the target with
    /// them or not at all.
    COMMIT(2);

    private final int code;

    Stage(int code) {
      this.code = code;
    }

    /// The code on the wire.
    int code() {
      return code;
    }
  }
}
