// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.PeerMemory;
import java.lang.foreign.MemorySegment;

/// A peer's mapped region. A visit increments a count in the peer's link file. The peer therefore
/// knows when no visit is in progress, and can identify the claims of this process if it dies.
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
    // A full fence: either the owner sees the claim, or this thread sees that the region is closed.
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
