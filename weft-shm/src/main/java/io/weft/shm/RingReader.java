// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.wire.MessageBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The receiving end of a ring in our own link file. The peer can change every byte of it at any
/// time: each is read once, and checked before it is used.
final class RingReader {

  private static final int MASK = Layout.RING_BYTES - 1;
  private static final int PUBLISH_BYTES = Layout.RING_BYTES / 4;

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
    return (long) Layout.LONG.getAcquire(link, Layout.TAIL) != head;
  }

  /// Looks what is published; whether there is something.
  ///
  /// Hot path.
  boolean look() throws ShmFault {
    // Pairs with the release in RingWriter.publish: these frames are whole.
    long seen = (long) Layout.LONG.getAcquire(link, Layout.TAIL);
    if (seen == head) {
      return false;
    }
    long bytes = seen - head;
    if (seen < tail || bytes < 0 || bytes > Layout.RING_BYTES || bytes % Frame.BYTES != 0) {
      throw new ShmFault("a ring whose end " + seen + " cannot follow its start " + head);
    }
    tail = seen;
    return true;
  }

  boolean isEmpty() {
    return head == tail;
  }

  int readInt(int field) {
    return link.get(ValueLayout.JAVA_INT, Layout.RING + (head & MASK) + field);
  }

  long readLong(int field) {
    return link.get(ValueLayout.JAVA_LONG, Layout.RING + (head & MASK) + field);
  }

  /// Whether a frame with so long a payload lies in what is published.
  boolean holds(int payload) {
    return Frame.padded(payload) <= tail - head;
  }

  /// Copies the payload behind the header.
  ///
  /// Hot path.
  MemorySegment message(MessageBuffer messages, int bytes) {
    int at = (int) ((head + Frame.BYTES) & MASK);
    int first = Math.min(bytes, Layout.RING_BYTES - at);
    return first == bytes
        ? messages.copy(link, Layout.RING + at, bytes)
        : messages.copy(link, Layout.RING + at, first, Layout.RING, bytes - first);
  }

  /// Copies the payload behind the header.
  ///
  /// Hot path.
  void payload(MemorySegment into, long offset, int bytes) {
    int at = (int) ((head + Frame.BYTES) & MASK);
    int first = Math.min(bytes, Layout.RING_BYTES - at);
    MemorySegment.copy(link, Layout.RING + at, into, offset, first);
    if (first < bytes) {
      MemorySegment.copy(link, Layout.RING, into, offset + first, bytes - first);
    }
  }

  /// The payload of one word behind the header.
  long word() {
    return link.get(ValueLayout.JAVA_LONG, Layout.RING + ((head + Frame.BYTES) & MASK));
  }

  /// Copies from the next staging slot.
  ///
  /// Hot path.
  void staged(MemorySegment into, long offset, int bytes) {
    long slot = emptied & (Layout.STAGING_SLOTS - 1);
    MemorySegment.copy(
        link, Layout.STAGING + slot * Layout.STAGING_SLOT_BYTES, into, offset, bytes);
  }

  /// The next staging slot may be filled again.
  ///
  /// Hot path.
  void emptySlot() {
    emptied++;
    Layout.LONG.setRelease(link, Layout.EMPTIED, emptied);
  }

  /// Goes past the frame with so long a payload.
  ///
  /// Hot path.
  void skip(int payload) {
    head += Frame.padded(payload);
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
    Layout.LONG.setRelease(link, Layout.HEAD, head);
  }

  /// Whether the peer waits for the room that was given back; not said again.
  ///
  /// Hot path.
  boolean isRoomWanted() {
    // Pairs with the fence between RingWriter.wantRoom and its last look.
    VarHandle.fullFence();
    if ((int) Layout.INT.getOpaque(link, Layout.WANTS_ROOM) == 0) {
      return false;
    }
    Layout.INT.setOpaque(link, Layout.WANTS_ROOM, 0);
    return true;
  }

  /// Bytes that the peer says it has written straight into our regions.
  long progress() {
    return (long) Layout.LONG.getOpaque(link, Layout.PROGRESS);
  }
}
