// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;

/// A peer's registered region mapped into this process, so that the peer sees stores without any
/// action of its own. The processes agree by messages on when each may access which bytes; a
/// message sent after a store makes the store visible to the receiver. The memory is valid while
/// its endpoint is open, and remains mapped afterwards, so that a late access does not fault. The
/// polling thread may access it at any time, any other thread only between `visit` and `leave`.
public interface PeerMemory {

  /// Returns the peer's bytes; the segment has the length of the region.
  MemorySegment segment();

  /// Claims the memory for one short access of at most a few hundred microseconds. Returns false if
  /// the peer has closed the region, because its memory may have been reused. A successful call
  /// must be followed by `leave`.
  ///
  /// Hot path.
  boolean visit();

  /// Ends a `visit`.
  ///
  /// Hot path.
  void leave();
}
