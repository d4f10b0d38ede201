// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.PeerMemory;
import java.lang.foreign.MemorySegment;

/// A peer's region, mapped. A visit is a count in the peer's link file, so that the peer knows when
/// nobody is inside, and can tell our claims from those of others when we die.
final class PeerRegion implements PeerMemory {

  private final PeerRegions peer;
  private final MemorySegment link;
  private final MemorySegment segment;
  private final int key;
  private final long claim;

  PeerRegion(PeerRegions peer, MemorySegment link, MemorySegment segment, int key) {
    this.peer = peer;
    this.link = link;
    this.segment = segment;
    this.key = key;
    claim = ControlLayout.visits(key);
  }

  int key() {
    return key;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public boolean visit() {
    // A full fence: either the owner sees the claim or we see that it has closed the region.
    int unused = (int) ControlLayout.INT.getAndAdd(link, claim, 1);
    if (peer.isOpen(key) && peer.isTaken()) {
      return true;
    }
    leave();
    return false;
  }

  @Override
  public void leave() {
    // Only the polling thread of this end writes it. Pairs with the volatile read in AccessTracker.
    ControlLayout.INT.setRelease(link, claim, (int) ControlLayout.INT.get(link, claim) - 1);
  }
}
