// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import java.util.ArrayDeque;

/// Registered windows for segments that wait to be combined: the last one given back is the next
/// one lent, because it is still in the cache. What is lent is bounded by the operations in flight;
/// of what is idle, at most `keepBytes` are kept. Confined to the lane's thread.
final class Staging implements AutoCloseable {

  private final Transport transport;
  private final long windowBytes;
  private final long keepBytes;
  private final ArrayDeque<MemoryRegion> idle = new ArrayDeque<>();
  private int lent;

  Staging(Transport transport, long windowBytes, long keepBytes) {
    this.transport = transport;
    this.windowBytes = windowBytes;
    this.keepBytes = keepBytes;
  }

  MemoryRegion lease() {
    lent++;
    MemoryRegion region = idle.pollLast();
    return region != null ? region : transport.allocate(windowBytes);
  }

  void giveBack(MemoryRegion region) {
    lent--;
    if ((idle.size() + 1) * windowBytes <= keepBytes) {
      idle.addLast(region);
    } else {
      region.close();
    }
  }

  /// A window that peers may still write to is closed, not used again.
  void forget(MemoryRegion region) {
    lent--;
    region.close();
  }

  int lent() {
    return lent;
  }

  @Override
  public void close() {
    idle.forEach(MemoryRegion::close);
    idle.clear();
  }
}
