// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

/// One of the exchanges of an operation, as data.
sealed interface Stage permits WireStage, SharedStage, PullStage, SlotStage {

  /// Most phases an operation may have.
  int MAX_PHASES = 2;

  /// The exchange of this stage, not started.
  Exchange exchange(Operation<?> operation, int phase, Wires wires);
}
