// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.plan.AlgorithmPlan;

/// The pieces in which the runs of one exchange travel, the same on both sides.
///
/// @param bytes of each but the last of a run
record Segments(long bytes) {

  /// Two ranks of one host that keep step send each other at once what their transport wants there
  /// (docs/adr/0071-a-piece-by-the-processor.md); all others what the settings say.
  static Segments of(CollectiveContext context, RunningOperation operation, AlgorithmPlan plan) {
    boolean withinHost =
        plan.keepsStep() && context.sharesKernel(operation, plan.outgoing().getFirst().peer());
    return new Segments(withinHost ? context.hostSegmentBytes() : context.segmentBytes());
  }

  /// Segments of a run; an empty one has one empty segment, which keeps the order.
  int count(long runBytes) {
    return (int) Math.max(1, (runBytes + bytes - 1) / bytes);
  }

  /// Length of one of them.
  long bytes(long runBytes, int segment) {
    return Math.min(bytes, runBytes - offset(segment));
  }

  /// Where a segment begins in its run, or a slot in a window.
  long offset(long segment) {
    return segment * bytes;
  }
}
