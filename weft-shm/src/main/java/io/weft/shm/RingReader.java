// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The receiving end of a ring in this side's link file. The peer can change every byte at any
/// time. Each byte is therefore read once and checked before use.
final class RingReader {

  private static final int MASK = ControlLayout.RING_BYTES - 1;
  private static final int PUBLISH_BYTES = ControlLayout.RING_BYTES / 4;

  private final MemorySegment link;
  private long head;
  private long tail;
  private long published;
  private long emptied;

  RingReader(MemorySegment link) {
    this.link = link;
  }

  /// Returns whether a published frame is not consumed.
  ///
  /// Hot path.
  boolean hasArrived() {
    return (long) ControlLayout.LONG.getAcquire(link, ControlLayout.TAIL) != head;
  }

  /// Reads the published end; returns whether frames are available.
  ///
  /// Hot path.
  boolean look() throws ShmFault {
    // Pairs with the release in RingWriter.publish: these frames are complete.
    long seen = (long) ControlLayout.LONG.getAcquire(link, ControlLayout.TAIL);
    if (seen == head) {
      return false;
    }
    long bytes = seen - head;
    if (seen < tail
        || bytes < 0
        || bytes > ControlLayout.RING_BYTES
        || bytes % ShmFrame.BYTES != 0) {
      throw new ShmFault("a ring whose end " + seen + " cannot follow its start " + head);
    }
    tail = seen;
    return true;
  }

  boolean isEmpty() {
    return head == tail;
  }

  int readInt(int field) {
    return link.get(ValueLayout.JAVA_INT, ControlLayout.RING + (head & MASK) + field);
  }

  long readLong(int field) {
    return link.get(ValueLayout.JAVA_LONG, ControlLayout.RING + (head & MASK) + field);
  }

  /// Returns whether the published part contains a frame with this payload length.
  boolean holds(int payload) {
    return ShmFrame.padded(payload) <= tail - head;
  }

  /// Copies the payload after the header.
  ///
  /// Hot path.
  MemorySegment message(MessageBuffer messages, int bytes) {
    int at = (int) ((head + ShmFrame.BYTES) & MASK);
    int first = Math.min(bytes, ControlLayout.RING_BYTES - at);
    return first == bytes
        ? messages.copy(link, ControlLayout.RING + at, bytes)
        : messages.copy(link, ControlLayout.RING + at, first, ControlLayout.RING, bytes - first);
  }

  /// Copies the payload after the header.
  ///
  /// Hot path.
  void payload(MemorySegment into, long offset, int bytes) {
    int at = (int) ((head + ShmFrame.BYTES) & MASK);
    int first = Math.min(bytes, ControlLayout.RING_BYTES - at);
    MemorySegment.copy(link, ControlLayout.RING + at, into, offset, first);
    if (first < bytes) {
      MemorySegment.copy(link, ControlLayout.RING, into, offset + first, bytes - first);
    }
  }

  /// Returns the one-word payload after the header.
  long word() {
    return link.get(ValueLayout.JAVA_LONG, ControlLayout.RING + ((head + ShmFrame.BYTES) & MASK));
  }

  /// Copies from the next staging slot.
  ///
  /// Hot path.
  void staged(MemorySegment into, long offset, int bytes) {
    long slot = emptied & (ControlLayout.STAGING_SLOTS - 1);
    MemorySegment.copy(
        link, ControlLayout.STAGING + slot * ControlLayout.STAGING_SLOT_BYTES, into, offset, bytes);
  }

  /// Frees the next staging slot.
  ///
  /// Hot path.
  void emptySlot() {
    emptied++;
    ControlLayout.LONG.setRelease(link, ControlLayout.EMPTIED, emptied);
  }

  /// Skips the frame with this payload length.
  ///
  /// Hot path.
  void skip(int payload) {
    head += ShmFrame.padded(payload);
    if (head - published >= PUBLISH_BYTES) {
      publish();
    }
  }

  /// Returns the consumed space to the peer.
  ///
  /// Hot path.
  void publish() {
    published = head;
    // Pairs with the acquire in RingWriter.hasRoom.
    ControlLayout.LONG.setRelease(link, ControlLayout.HEAD, head);
  }

  /// Returns whether the peer waits for the returned space, and clears the request.
  ///
  /// Hot path.
  boolean isRoomWanted() {
    // Pairs with the fence between RingWriter.prepareToWait and its last look.
    VarHandle.fullFence();
    if ((int) ControlLayout.INT.getOpaque(link, ControlLayout.WANTS_ROOM) == 0) {
      return false;
    }
    ControlLayout.INT.setOpaque(link, ControlLayout.WANTS_ROOM, 0);
    return true;
  }

  /// Returns the bytes that the peer claims to have written directly into local regions.
  long progress() {
    return (long) ControlLayout.LONG.getOpaque(link, ControlLayout.PROGRESS);
  }
}
