// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.transport.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/// A window that stands in for this rank's private tensor: peers find its input there, and leave
/// their slices of the result. Its own slice needs no place there. One more copy in and one out, of
/// (n-1)/n of the bytes each, and as few messages as with memory in common. Copies piece by piece,
/// so that the progress thread stays responsive. Confined to the progress thread.
final class BounceBuffer {

  /// Longest piece, some 500 microseconds: long enough for the copies of the JVM that go past the
  /// caches.
  private static final long PIECE_BYTES = 4 << 20;

  private final MappedReduceStage stage;
  private final MemoryRegion window;
  private final BitSet toPublish = new BitSet();
  private final BitSet toTake = new BitSet();
  // Whose slice is being copied, and how many bytes of it are.
  private int begun;
  private long copied;

  /// A window at least as long as the tensor, for all members but this one.
  BounceBuffer(MappedReduceStage stage, MemoryRegion window, int rank) {
    this.stage = stage;
    this.window = window;
    toPublish.set(0, stage.size());
    toPublish.clear(rank);
  }

  MemoryRegion window() {
    return window;
  }

  /// Whether peers find all of the input that they need.
  boolean isPublished() {
    return toPublish.isEmpty();
  }

  /// Copies one more piece of what peers need.
  ///
  /// Hot path.
  void publish() {
    piece(toPublish, stage.input(), window.segment());
  }

  /// A member has left its slice of the result.
  void arrived(int member) {
    toTake.set(member);
  }

  /// Whether nothing that has arrived is still to be copied.
  boolean isTaken() {
    return toTake.isEmpty();
  }

  /// Copies one more piece of what has arrived.
  ///
  /// Hot path.
  void take() {
    piece(toTake, window.segment(), stage.output());
  }

  private void piece(BitSet slices, MemorySegment from, MemorySegment to) {
    // One that has begun first: others may have arrived since.
    int member = copied > 0 ? begun : slices.nextSetBit(0);
    if (member < 0) {
      return;
    }
    begun = member;
    long at = stage.slice(member) + copied;
    long bytes = Math.min(PIECE_BYTES, stage.slice(member + 1) - at);
    MemorySegment.copy(from, at, to, at, bytes);
    copied += bytes;
    if (at + bytes == stage.slice(member + 1)) {
      slices.clear(member);
      copied = 0;
    }
  }
}
