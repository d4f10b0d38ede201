// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;

/// A peer's registered region as memory of this process: what is stored here, the peer sees without
/// taking part. Who may touch which bytes when is agreed by messages; a message that the peer gets
/// after a store shows the store too. Valid while the endpoint that gave it is open; what it maps
/// stays mapped, so a late access hurts nobody here. Polling thread, and any other between `visit`
/// and `leave`.
public interface PeerMemory {

  /// The peer's bytes, as long as its region.
  MemorySegment segment();

  /// Claims the memory for one short access, a few hundred microseconds at most; false where the
  /// peer has closed the region, whose memory may serve another purpose by now. Followed by
  /// `leave`.
  ///
  /// Hot path.
  boolean visit();

  /// Ends a `visit`.
  ///
  /// Hot path.
  void leave();
}
