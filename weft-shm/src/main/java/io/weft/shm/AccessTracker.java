// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/// Tracks the peers that may be accessing this process's regions: all peers with an open endpoint,
/// and peers whose endpoint ended during an access, until they leave or die. Thread-safe.
final class AccessTracker {

  /// One peer's claims, in this side's link file.
  record Visitor(MemorySegment link, long process, long startTicks) {

    private boolean isInside(int key) {
      return (int) ControlLayout.INT.getVolatile(link, ControlLayout.visits(key)) != 0;
    }

    private boolean isInsideAny() {
      for (int index = 0; index < ControlLayout.SLOT_COUNT; index++) {
        if (isInside(index)) {
          return true;
        }
      }
      return false;
    }

    private boolean lives() {
      return ProcessDomain.startTicks(process) == startTicks;
    }
  }

  private volatile Visitor[] present = {};
  private volatile Visitor[] lingering = {};

  /// Returns whether a peer is accessing the region with this key, or an earlier region with its
  /// index.
  boolean areInside(int key) {
    for (Visitor visitor : present) {
      if (visitor.isInside(key)) {
        return true;
      }
    }
    for (Visitor visitor : lingering) {
      if (visitor.isInside(key)) {
        if (visitor.lives()) {
          return true;
        }
        forget(visitor);
      }
    }
    return false;
  }

  synchronized void add(Visitor visitor) {
    present = with(present, visitor);
  }

  /// Ends the endpoint of this peer, which then begins no more visits.
  synchronized void end(Visitor visitor) {
    ControlLayout.LONG.setRelease(visitor.link(), ControlLayout.ENDED, 1L);
    // Pairs with the claim in PeerRegion.visit.
    VarHandle.fullFence();
    if (visitor.isInsideAny()) {
      lingering = with(lingering, visitor);
    }
    present = without(present, visitor);
  }

  private synchronized void forget(Visitor dead) {
    lingering = without(lingering, dead);
  }

  private static Visitor[] with(Visitor[] some, Visitor more) {
    List<Visitor> all = new ArrayList<>(List.of(some));
    all.add(more);
    return all.toArray(new Visitor[0]);
  }

  private static Visitor[] without(Visitor[] some, Visitor less) {
    List<Visitor> all = new ArrayList<>(List.of(some));
    all.removeIf(one -> one.link().address() == less.link().address());
    return all.toArray(new Visitor[0]);
  }
}
