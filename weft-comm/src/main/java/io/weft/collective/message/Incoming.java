// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import io.weft.transport.MemoryRegion;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// The progress of what one peer sends us in one exchange: segments arrive in the order of the
/// schedule and are applied in that order.
final class Incoming {

  final int peer;
  final int[] receives;
  final int slots;
  @Nullable MemoryRegion staging;
  final ArrayDeque<byte[]> eager = new ArrayDeque<>(0);

  /// Segments here, and of these applied.
  int arrived;

  int applied;

  /// The segment to apply next: position in `receives`, segment of its chunk.
  int position;

  int segment;

  /// The segment to arrive next: position in `receives`, segment of its chunk.
  int dueReceive;

  int dueSegment;

  /// Staged segments here; of these applied; of these not yet given back as credit.
  int stagedArrived;

  int stagedApplied;

  int uncredited;

  /// @param slots of its window
  Incoming(int peer, int[] receives, int slots) {
    this.peer = peer;
    this.receives = receives;
    this.slots = slots;
  }

  boolean acknowledged() {
    return position == receives.length;
  }
}
