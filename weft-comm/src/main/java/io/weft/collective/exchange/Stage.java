// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

/// One exchange between all members of an operation, before it begins on this rank. Most are data;
/// that of a mailbox is its own task, since it may have begun before there is an operation.
public interface Stage {

  /// Most stages an operation may have.
  int MAX_STAGES = 20;

  /// The exchange of this stage, not started.
  StageTask task(RunningOperation operation, int stageIndex, CollectiveContext context);
}
