// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.ring.ByteRing;

/// The state of both rings at one end of a connection: the next index and free slots of the peer's
/// ring, and the consumed frames that are not credited to the peer. Rings therefore never overflow.
public final class RingCredits {

  /// The maximum number of frames in a ring; a power of two.
  public static final int SLOTS = 128;

  /// The length of a frame's header in bytes.
  public static final int HEADER_BYTES = VerbsFrame.HEADER;

  /// Marks an immediate value that counts consumed frames.
  static final int CREDIT = 1 << 31;

  private static final int INDEX_SHIFT = 6;

  private final int ringBytes;
  private final ByteRing room;
  private final long[] ends = new long[SLOTS];
  // The counts of frames sent, credited by the peer, consumed here, and credited to the peer.
  private int sent;
  private int credited;
  private int consumed;
  private int told;
  private int untoldBytes;

  /// Creates the state for rings of `ringBytes`, a power of two.
  public RingCredits(int ringBytes) {
    this.ringBytes = ringBytes;
    room = new ByteRing(ringBytes);
  }

  /// Returns the longest payload of a frame in a ring of `ringBytes`: a quarter of the ring, so
  /// that it fits after the longest gap and beside the frames that the receiver has not credited.
  public static int maxPayload(int ringBytes) {
    return Math.min(VerbsFrame.MAX_PAYLOAD, ringBytes / 4);
  }

  /// Returns whether there is a slot for another frame.
  ///
  /// Hot path.
  public boolean hasSlot() {
    return sent - credited < SLOTS;
  }

  /// Reserves room for a frame with this payload, for which there must be a slot. Returns its index
  /// in the peer's ring, or -1 if it does not fit now. The frame must be sent before the next
  /// reservation.
  ///
  /// Hot path.
  public int reserve(int payload) {
    int index = room.reserve(VerbsFrame.span(payload));
    if (index >= 0) {
      ends[sent & (SLOTS - 1)] = room.head();
    }
    return index;
  }

  /// Counts the reserved frame as sent.
  ///
  /// Hot path.
  public void sent() {
    sent++;
  }

  /// Returns the immediate value for a frame at this index.
  public static int immediateOf(int index) {
    return index >>> INDEX_SHIFT;
  }

  /// Returns the index of the frame with this immediate value.
  public int indexOf(int immediate) throws VerbsFault {
    long index = (long) immediate << INDEX_SHIFT;
    if (index + VerbsFrame.HEADER > ringBytes) {
      throw new VerbsFault("a frame at " + index + " of a ring of " + ringBytes + " bytes");
    }
    return (int) index;
  }

  /// Handles the peer's credit for consumed frames in this immediate value.
  ///
  /// Hot path.
  public void credit(int immediate) throws VerbsFault {
    int fresh = ((immediate & ~CREDIT) - credited) & ~CREDIT;
    if (fresh > sent - credited) {
      throw new VerbsFault("credit for " + fresh + " frames of " + (sent - credited));
    }
    if (fresh > 0) {
      credited += fresh;
      room.release(ends[(credited - 1) & (SLOTS - 1)]);
    }
  }

  /// Counts a frame with this payload as consumed.
  ///
  /// Hot path.
  public void consumed(int payload) {
    consumed++;
    untoldBytes += VerbsFrame.span(payload);
  }

  /// Returns whether enough frames are consumed to return credit.
  ///
  /// Hot path.
  public boolean isDue() {
    return consumed - told >= SLOTS / 4 || untoldBytes >= ringBytes / 4;
  }

  /// Returns the immediate value that credits all consumed frames, and records it as sent.
  ///
  /// Hot path.
  public int tell() {
    told = consumed;
    untoldBytes = 0;
    return CREDIT | (consumed & ~CREDIT);
  }
}
