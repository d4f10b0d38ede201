// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

/// The provider of a region's memory, which exposes the memory to peers in its own way. A region
/// that is registered with such an owner notifies it when the region closes. Thread-safe.
public interface RegionOwner {

  /// Called when the region is closed: peers must no longer begin to access its memory. This
  /// transport no longer accesses it.
  void withdrawn();

  /// Called in place of `withdrawn` when the region is closed and no peer accesses its memory.
  default void released() {
    withdrawn();
  }

  /// Returns the address that an exported region carries (`RemoteRegion`). Called on each export.
  default long exportedAddress() {
    return 0;
  }

  /// Implements `MemoryRegion.isMappable`.
  boolean isMappable();

  /// Implements `MemoryRegion.isVisited`.
  boolean isVisited();
}
