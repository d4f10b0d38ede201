// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.ring.ByteRing;

/// What one end of a connection knows of both rings: where the next frame goes in the peer's, how
/// many slots it has, and of which consumed frames the peer has not heard. So no ring is ever
/// overrun and no receive missing.
public final class RingCredits {

  /// Frames that may be in a ring at a time; a power of two.
  public static final int SLOTS = 128;

  /// Bytes before the payload of a frame.
  public static final int HEADER_BYTES = VerbsFrame.HEADER;

  /// Marks an immediate value that counts consumed frames.
  static final int CREDIT = 1 << 31;

  private static final int INDEX_SHIFT = 6;

  private final int ringBytes;
  private final ByteRing room;
  private final long[] ends = new long[SLOTS];
  // Frames: sent, of them consumed by the peer; consumed here, of them told.
  private int sent;
  private int credited;
  private int consumed;
  private int told;
  private int untoldBytes;

  /// Of rings with so many bytes, a power of two.
  public RingCredits(int ringBytes) {
    this.ringBytes = ringBytes;
    room = new ByteRing(ringBytes);
  }

  /// Whether there is a slot for another frame.
  ///
  /// Hot path.
  public boolean hasSlot() {
    return sent - credited < SLOTS;
  }

  /// Takes room for a frame with this payload, for which there is a slot: its index in the peer's
  /// ring, or -1 if there is no room now. It is sent before another one is reserved.
  ///
  /// Hot path.
  public int reserve(int payload) {
    int index = room.reserve(VerbsFrame.span(payload));
    if (index >= 0) {
      ends[sent & (SLOTS - 1)] = room.head();
    }
    return index;
  }

  /// The reserved frame has left.
  ///
  /// Hot path.
  public void sent() {
    sent++;
  }

  /// The immediate value that tells of a frame at this index.
  public static int immediateOf(int index) {
    return index >>> INDEX_SHIFT;
  }

  /// Where the frame with this immediate value begins.
  public int indexOf(int immediate) throws VerbsFault {
    long index = (long) immediate << INDEX_SHIFT;
    if (index + VerbsFrame.HEADER > ringBytes) {
      throw new VerbsFault("a frame at " + index + " of a ring of " + ringBytes + " bytes");
    }
    return (int) index;
  }

  /// The peer has consumed frames, as this immediate value says.
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

  /// A frame with this payload is consumed.
  ///
  /// Hot path.
  public void consumed(int payload) {
    consumed++;
    untoldBytes += VerbsFrame.span(payload);
  }

  /// Whether so much is consumed that the peer should hear of it.
  ///
  /// Hot path.
  public boolean isDue() {
    return consumed - told >= SLOTS / 4 || untoldBytes >= ringBytes / 4;
  }

  /// The immediate value that tells the peer of all that is consumed; it is told now.
  ///
  /// Hot path.
  public int tell() {
    told = consumed;
    untoldBytes = 0;
    return CREDIT | (consumed & ~CREDIT);
  }
}
