// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The receiving end of a ring in our own link file. The peer can change every byte of it at any
/// time: each is read once, and checked before it is used.
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

  /// Whether something is published that was not taken.
  ///
  /// Hot path.
  boolean hasArrived() {
    return (long) ControlLayout.LONG.getAcquire(link, ControlLayout.TAIL) != head;
  }

  /// Looks what is published; whether there is something.
  ///
  /// Hot path.
  boolean look() throws ShmFault {
    // Pairs with the release in RingWriter.publish: these frames are whole.
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

  /// Whether a frame with so long a payload lies in what is published.
  boolean holds(int payload) {
    return ShmFrame.padded(payload) <= tail - head;
  }

  /// Copies the payload behind the header.
  ///
  /// Hot path.
  MemorySegment message(MessageBuffer messages, int bytes) {
    int at = (int) ((head + ShmFrame.BYTES) & MASK);
    int first = Math.min(bytes, ControlLayout.RING_BYTES - at);
    return first == bytes
        ? messages.copy(link, ControlLayout.RING + at, bytes)
        : messages.copy(link, ControlLayout.RING + at, first, ControlLayout.RING, bytes - first);
  }

  /// Copies the payload behind the header.
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

  /// The payload of one word behind the header.
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

  /// The next staging slot may be filled again.
  ///
  /// Hot path.
  void emptySlot() {
    emptied++;
    ControlLayout.LONG.setRelease(link, ControlLayout.EMPTIED, emptied);
  }

  /// Goes past the frame with so long a payload.
  ///
  /// Hot path.
  void skip(int payload) {
    head += ShmFrame.padded(payload);
    if (head - published >= PUBLISH_BYTES) {
      publish();
    }
  }

  /// Gives the room of what was taken back to the peer.
  ///
  /// Hot path.
  void publish() {
    published = head;
    // Pairs with the acquire in RingWriter.hasRoom.
    ControlLayout.LONG.setRelease(link, ControlLayout.HEAD, head);
  }

  /// Whether the peer waits for the room that was given back; not said again.
  ///
  /// Hot path.
  boolean isRoomWanted() {
    // Pairs with the fence between RingWriter.wantRoom and its last look.
    VarHandle.fullFence();
    if ((int) ControlLayout.INT.getOpaque(link, ControlLayout.WANTS_ROOM) == 0) {
      return false;
    }
    ControlLayout.INT.setOpaque(link, ControlLayout.WANTS_ROOM, 0);
    return true;
  }

  /// Bytes that the peer says it has written straight into our regions.
  long progress() {
    return (long) ControlLayout.LONG.getOpaque(link, ControlLayout.PROGRESS);
  }
}
