// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.transport.PeerMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One copy out of a peer's memory, or our own, piece by piece. Confined to the progress thread.
final class OneSidedCopy {

  private final @Nullable PeerMemory peer;
  private final MemorySegment source;
  private final MemorySegment target;
  private long moved;

  /// Of equal lengths.
  ///
  /// @param peer whose memory `source` is; null: ours
  OneSidedCopy(@Nullable PeerMemory peer, MemorySegment source, MemorySegment target) {
    this.peer = peer;
    this.source = source;
    this.target = target;
  }

  boolean done() {
    return moved == target.byteSize();
  }

  /// Does one more piece. False if the peer has closed its memory: it has failed, and says so.
  ///
  /// Hot path.
  boolean piece() {
    if (done()) {
      return true;
    }
    if (peer != null && !peer.visit()) {
      return false;
    }
    try {
      long bytes = Math.min(SliceReduce.PIECE_BYTES, target.byteSize() - moved);
      MemorySegment.copy(source, moved, target, moved, bytes);
      moved += bytes;
    } finally {
      if (peer != null) {
        peer.leave();
      }
    }
    return true;
  }
}
