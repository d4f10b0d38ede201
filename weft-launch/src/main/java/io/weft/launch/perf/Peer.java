// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

/// A system that can be measured beside Weft, or Weft itself.
interface Peer {

  /// The name on the command line.
  String name();

  /// Makes ready what a plan needs, untimed: finds programs, compiles. Throws
  /// `IllegalArgumentException` for a plan that this peer cannot run and `PerfException.Missing` if
  /// something is not on this machine.
  Contestant prepare(Plan plan) throws InterruptedException;

  /// Ready to run one plan.
  @FunctionalInterface
  interface Contestant {

    /// One round in fresh processes, none of which is left on return. Throws
    /// `PerfException.Failed`.
    RankReport round() throws InterruptedException;
  }
}
