// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// Breaks the protocol on purpose, so that a test shows that the simulation would catch a defect of
/// this kind. Production code knows nothing of it.
public interface Tamper {

  /// Changes nothing.
  Tamper NONE = new Tamper() {};

  /// What becomes of something that is sent.
  enum Fate {
    /// It arrives.
    ONCE,
    /// It never does, and nobody is told.
    NEVER,
    /// It arrives, and then again.
    TWICE
  }

  /// Decides on a message.
  ///
  /// @param type its second byte: for collectives, what it is (docs/protocol/collective.md)
  default Fate message(int fromRank, int toRank, int type) {
    return Fate.ONCE;
  }

  /// Decides on a remote write.
  default Fate write(int fromRank, int toRank) {
    return Fate.ONCE;
  }

  /// Whether a process takes what an earlier process of a rank sends for the present one's.
  default boolean takesOldForNew() {
    return false;
  }
}
