// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;

/// Registered memory, **owned**. Any thread may read its properties.
public interface MemoryRegion extends AutoCloseable {

  /// The memory.
  MemorySegment segment();

  /// The permission that a peer needs to read and write this region; plain data that goes over the
  /// wire.
  RemoteRegion export();

  /// A part of this region; bounds are checked here.
  default Slice slice(long offset, long bytes) {
    return new Slice(this, offset, bytes);
  }

  /// Whether peers that share memory with this process may map this region: it lies in memory that
  /// `Transport.allocate` gave. True also where that is not known; then `Endpoint.map` says it.
  default boolean isMappable() {
    return true;
  }

  /// Whether a peer is inside this memory at this moment by way of `PeerMemory`, also after
  /// `close`: it may still store there. A peer that has died is inside nothing.
  default boolean isVisited() {
    return false;
  }

  /// Withdraws the registration: later remote access is refused. Throws `IllegalStateException`
  /// while work of ours that uses it is posted. A second call has no effect.
  @Override
  void close();
}
