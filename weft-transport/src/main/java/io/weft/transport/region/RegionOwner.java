// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

/// Whoever gives the memory of a region and shows it to peers in ways of its own. A region that is
/// registered with one as its owner tells it of its end. Any thread.
public interface RegionOwner {

  /// The region is closed: no peer may begin to touch its memory any more. Nobody of this transport
  /// touches it either.
  void withdrawn();

  /// See `MemoryRegion.isMappable`.
  boolean isMappable();

  /// See `MemoryRegion.isVisited`.
  boolean isVisited();
}
