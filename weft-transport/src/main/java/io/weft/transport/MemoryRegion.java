// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;

/// An **owned** region of registered memory. Any thread may read its properties.
public interface MemoryRegion extends AutoCloseable {

  /// Returns the memory.
  MemorySegment segment();

  /// Returns the permission that a peer needs to read and write this region, as plain data that can
  /// be sent to the peer.
  RemoteRegion export();

  /// Returns a part of this region after a bounds check.
  default Slice slice(long offset, long bytes) {
    return new Slice(this, offset, bytes);
  }

  /// Returns whether peers that share memory with this process may map this region, because it lies
  /// in memory that `Transport.allocate` returned. Returns true also if the transport cannot tell;
  /// then the peer's `Endpoint.map` decides.
  default boolean isMappable() {
    return true;
  }

  /// Returns whether a peer is accessing this memory through `PeerMemory`, even after `close`: such
  /// a peer may still store to it. A peer that has died accesses nothing.
  default boolean isVisited() {
    return false;
  }

  /// Withdraws the registration, so that later remote accesses are refused. A peer's device may
  /// then still access the memory for a moment; `isVisited` tells when it no longer does. Throws
  /// `IllegalStateException` while posted work of this process uses the region. A second call has
  /// no effect.
  @Override
  void close();

  /// Closes a region that no peer accesses any more, because each peer that received its export has
  /// said so: as `close`, but without asking the peers' devices. If a peer accesses it
  /// nevertheless, that access has an undefined result.
  default void release() {
    close();
  }
}
