// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import java.util.BitSet;

/// An exchange in which ranks work on the memory of others, as far as its kinds agree: some offer
/// theirs (SHARE), others say when they do not touch it any more (DONE). Confined to the progress
/// thread.
abstract class MappedTask implements StageTask {

  final RunningOperation operation;
  final CollectiveContext context;
  final int phase;
  final int rank;
  final int size;

  /// Members whose offer is due.
  final BitSet silent = new BitSet();

  MappedTask(RunningOperation operation, int phase, CollectiveContext context) {
    this.operation = operation;
    this.phase = phase;
    this.context = context;
    this.rank = operation.group().rank();
    this.size = operation.group().size();
  }

  @Override
  public final RunningOperation operation() {
    return operation;
  }

  /// Tells a member that this rank does not touch its memory any more.
  ///
  /// @param missed 1 if it could not do what it was to do there, else 0
  final void sendDone(int peer, int missed) {
    context.send(
        operation, peer, CollectiveFrame.Type.DONE, phase, missed, CollectiveFrame.HEADER_BYTES);
  }
}
