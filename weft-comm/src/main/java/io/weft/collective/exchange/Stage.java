// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

/// One exchange between all members of an operation, before it begins on this rank. Most stages are
/// data. A mailbox stage is its own task, because it may have begun before there is an operation.
public interface Stage {

  /// The maximum number of stages of an operation.
  int MAX_STAGES = 20;

  /// Returns the exchange of this stage, not started.
  StageTask task(RunningOperation operation, int stageIndex, CollectiveContext context);
}
