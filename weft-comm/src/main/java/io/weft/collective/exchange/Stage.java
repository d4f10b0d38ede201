// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

/// One of the exchanges of an operation, as data.
public interface Stage {

  /// Most phases an operation may have.
  int MAX_PHASES = 20;

  /// The exchange of this stage, not started.
  StageTask task(RunningOperation operation, int phase, CollectiveContext context);
}
