// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.ring.ByteRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// One direction of a line: a bounded ring of parcels in posting order, from one posting thread to
/// one receiving thread. A parcel is published when everything before it and its own bytes are
/// where they belong.
final class InprocPipe {

  static final int SLOTS = 1024;
  private static final int STAGING_BYTES = 1 << 18;

  private final InprocMessage[] slots = new InprocMessage[SLOTS];
  private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
  private final ByteRing ring = new ByteRing(STAGING_BYTES);
  // Released by the posting side, acquired by the receiving side.
  private final AtomicLong published = new AtomicLong();
  // Released by the receiving side, acquired by the posting side.
  private final AtomicLong consumed = new AtomicLong();
  private long reserved;
  private long reclaimed;

  InprocPipe() {
    for (int i = 0; i < SLOTS; i++) {
      slots[i] = new InprocMessage();
    }
  }

  // Posting side.

  /// A place for one more operation with so many staged bytes, or null if there is no room.
  ///
  /// Hot path.
  @Nullable InprocMessage reserve(int stagedBytes) {
    if (reserved - reclaimed == SLOTS || stagedBytes > 0) {
      reclaim();
    }
    if (reserved - reclaimed == SLOTS) {
      return null;
    }
    int at = 0;
    if (stagedBytes > 0) {
      at = ring.reserve(stagedBytes);
      if (at < 0) {
        return null;
      }
    }
    InprocMessage parcel = slots[(int) (reserved++ & (SLOTS - 1))];
    parcel.at = at;
    parcel.bytes = stagedBytes;
    parcel.stagedTo = ring.head();
    return parcel;
  }

  private void reclaim() {
    long seen = consumed.getAcquire();
    while (reclaimed < seen) {
      InprocMessage parcel = slots[(int) (reclaimed++ & (SLOTS - 1))];
      if (parcel.bytes > 0) {
        ring.release(parcel.stagedTo);
      }
    }
  }

  /// The first operation that is not published, or null.
  @Nullable InprocMessage unpublished() {
    long next = published.getPlain();
    return next < reserved ? slots[(int) (next & (SLOTS - 1))] : null;
  }

  /// Publishes the first operation that is not; its last access by this side.
  void publish() {
    published.setRelease(published.getPlain() + 1);
  }

  MemorySegment staging() {
    return staging;
  }

  // Receiving side.

  /// Whether something is published that was not consumed.
  boolean hasArrived() {
    return consumed.getPlain() < published.getAcquire();
  }

  /// The next parcel, or null.
  ///
  /// Hot path.
  @Nullable InprocMessage arrived() {
    long next = consumed.getPlain();
    return next < published.getAcquire() ? slots[(int) (next & (SLOTS - 1))] : null;
  }

  /// Gives the place of the last `arrived` back.
  void consume() {
    consumed.setRelease(consumed.getPlain() + 1);
  }
}
