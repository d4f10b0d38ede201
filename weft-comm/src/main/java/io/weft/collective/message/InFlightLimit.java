// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;

/// How far a rank may be ahead of a peer. What is on its way between two hosts fills the network;
/// what is on its way within one lies in the kernel's memory, and is found in a cache only while it
/// is little (docs/adr/0065-ranks-of-a-host-keep-step.md).
///
/// @param slots segments that may be on their way to be combined
/// @param lead segments of a send that may have been posted beyond what has come of the receive
///   beside it
record InFlightLimit(int slots, int lead) {

  private static final int WINDOW_BYTES = 512 << 10;
  private static final int LEAD_BYTES = 256 << 10;

  /// Towards this set rank.
  static InFlightLimit of(
      CollectiveContext context, RunningOperation operation, int peer, Segments segments) {
    return context.sharesKernel(operation, peer)
        ? inStep(context.windowSlots(), segments.bytes())
        : new InFlightLimit(context.windowSlots(), Integer.MAX_VALUE);
  }

  private static InFlightLimit inStep(int slots, long segmentBytes) {
    return new InFlightLimit(
        Math.clamp(WINDOW_BYTES / segmentBytes, 1, slots),
        (int) Math.max(1, LEAD_BYTES / segmentBytes));
  }
}
