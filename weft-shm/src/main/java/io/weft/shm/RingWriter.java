// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The sending end of a ring in the peer's link file, with its staging slots. It checks the peer's
/// reported progress before use.
final class RingWriter {

  private static final int MASK = ControlLayout.RING_BYTES - 1;

  private final MemorySegment link;
  private long tail;
  private long head;
  private long filled;
  private long emptied;
  private boolean blocked;
  private boolean needsSlot;
  private int needed;

  RingWriter(MemorySegment link) {
    this.link = link;
  }

  /// Returns whether a frame with this payload length has room.
  ///
  /// Hot path.
  boolean hasRoom(int payload) throws ShmFault {
    long needed = tail + ShmFrame.padded(payload) - ControlLayout.RING_BYTES;
    if (needed <= head) {
      return true;
    }
    // Pairs with the release in RingReader.publish: the peer no longer reads these bytes.
    long seen = (long) ControlLayout.LONG.getAcquire(link, ControlLayout.HEAD);
    if (seen < head || seen > tail) {
      throw new ShmFault("a ring whose start " + seen + " is not between " + head + " and " + tail);
    }
    head = seen;
    return needed <= head;
  }

  /// As `hasRoom`, but records the shortage for `isBlocked`.
  ///
  /// Hot path.
  boolean mayPut(int payload) throws ShmFault {
    if (hasRoom(payload)) {
      return true;
    }
    blocked = true;
    needsSlot = false;
    needed = payload;
    return false;
  }

  /// As `hasSlot`, but records the shortage for `isBlocked`.
  ///
  /// Hot path.
  boolean mayStage() throws ShmFault {
    if (hasSlot()) {
      return true;
    }
    blocked = true;
    needsSlot = true;
    return false;
  }

  /// Returns whether the last request for room is not satisfied yet.
  boolean isBlocked() {
    return blocked;
  }

  /// Returns whether the last failed request now has room; if so, it clears the blocked state.
  boolean findRoom() throws ShmFault {
    blocked = needsSlot ? !hasSlot() : !hasRoom(needed);
    return !blocked;
  }

  /// Returns whether a staging slot is free.
  ///
  /// Hot path.
  boolean hasSlot() throws ShmFault {
    if (filled - emptied < ControlLayout.STAGING_SLOTS) {
      return true;
    }
    long seen = (long) ControlLayout.LONG.getAcquire(link, ControlLayout.EMPTIED);
    if (seen < emptied || seen > filled) {
      throw new ShmFault(seen + " emptied staging slots of " + filled);
    }
    emptied = seen;
    return filled - emptied < ControlLayout.STAGING_SLOTS;
  }

  /// Writes a header. The caller has checked the room.
  ///
  /// Hot path.
  void header(int kind, int immediate, int key, int context, long offset, long length) {
    long at = ControlLayout.RING + (tail & MASK);
    link.set(ValueLayout.JAVA_INT, at + ShmFrame.KIND, kind);
    link.set(ValueLayout.JAVA_INT, at + ShmFrame.IMMEDIATE, immediate);
    link.set(ValueLayout.JAVA_INT, at + ShmFrame.KEY, key);
    link.set(ValueLayout.JAVA_INT, at + ShmFrame.CONTEXT, context);
    link.set(ValueLayout.JAVA_LONG, at + ShmFrame.OFFSET, offset);
    link.set(ValueLayout.JAVA_LONG, at + ShmFrame.LENGTH, length);
  }

  /// Writes the payload after the header.
  ///
  /// Hot path.
  void payload(MemorySegment from, long offset, int bytes) {
    int at = (int) ((tail + ShmFrame.BYTES) & MASK);
    int first = Math.min(bytes, ControlLayout.RING_BYTES - at);
    MemorySegment.copy(from, offset, link, ControlLayout.RING + at, first);
    if (first < bytes) {
      MemorySegment.copy(from, offset + first, link, ControlLayout.RING, bytes - first);
    }
  }

  /// Writes a one-word payload after the header.
  ///
  /// Hot path.
  void word(long value) {
    link.set(ValueLayout.JAVA_LONG, ControlLayout.RING + ((tail + ShmFrame.BYTES) & MASK), value);
  }

  /// Publishes the frame with this payload length to the peer.
  ///
  /// Hot path.
  void publish(int payload) {
    tail += ShmFrame.padded(payload);
    // Pairs with the acquire in RingReader.look.
    ControlLayout.LONG.setRelease(link, ControlLayout.TAIL, tail);
  }

  /// Fills the next staging slot and publishes it; the caller has checked the slot and the frame's
  /// room.
  ///
  /// Hot path.
  void stage(MemorySegment from, long offset, int bytes) {
    long slot = filled & (ControlLayout.STAGING_SLOTS - 1);
    MemorySegment.copy(
        from, offset, link, ControlLayout.STAGING + slot * ControlLayout.STAGING_SLOT_BYTES, bytes);
    filled++;
    header(ShmFrame.STAGED, 0, 0, 0, 0, bytes);
    publish(0);
  }

  /// Publishes the count of bytes that were written outside the ring.
  ///
  /// Hot path.
  void progress(long bytes) {
    ControlLayout.LONG.setOpaque(link, ControlLayout.PROGRESS, bytes);
  }

  /// Asks the peer to ring the bell when it makes room, if this side is blocked. The caller must
  /// then issue a fence and look once more before it waits.
  void prepareToWait() {
    if (blocked) {
      ControlLayout.INT.setOpaque(link, ControlLayout.WANTS_ROOM, 1);
    }
  }
}
