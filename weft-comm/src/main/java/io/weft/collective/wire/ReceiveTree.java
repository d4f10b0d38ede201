// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.collective.plan.RankSchedule.Receiving;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;

/// Runs of several peers that are combined at once with this rank's run, in one tree. A segment of
/// each is combined when all have arrived. Until then they remain where they arrived. Confined to
/// the progress thread.
final class ReceiveTree {

  private final WireExchange exchange;
  private final ReceiveStream.ReceiveStep[] steps;
  private final int own;

  /// The receive that tells whether the result is complete.
  private final Receiving last;

  private final MemorySegment[] leaves;
  private final long[] at;

  /// Creates the tree of these receives, in the order of the leaves. Leaf `own` is this rank's run.
  ReceiveTree(WireExchange exchange, ReceiveStream.ReceiveStep[] steps, int own) {
    this.exchange = exchange;
    this.steps = steps;
    this.own = own;
    this.last =
        Arrays.stream(steps)
            .max(Comparator.comparingInt(ReceiveStream.ReceiveStep::number))
            .orElseThrow()
            .receiving();
    this.leaves = new MemorySegment[steps.length + 1];
    this.at = new long[steps.length + 1];
    for (ReceiveStream.ReceiveStep step : steps) {
      step.joins(this);
    }
  }

  /// Applies the next segment of all runs if it has arrived and may be applied. Returns whether it
  /// was.
  ///
  /// Hot path.
  boolean tryApply() {
    int segment = steps[0].nextSegment();
    for (ReceiveStream.ReceiveStep step : steps) {
      if (!step.isHere(segment)) {
        return false;
      }
    }
    if (!steps[0].mayApply(segment)) {
      return false;
    }
    for (int i = 0; i < steps.length; i++) {
      int leaf = i < own ? i : i + 1;
      leaves[leaf] = steps[i].memory(i);
      at[leaf] = steps[i].offset();
    }
    exchange.memory().combineAll(last, segment, leaves, at, own);
    for (ReceiveStream.ReceiveStep step : steps) {
      step.applied();
    }
    return true;
  }
}
