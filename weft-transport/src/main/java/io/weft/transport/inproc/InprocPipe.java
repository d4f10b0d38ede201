// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.ring.ByteRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// One direction of an `InprocConnection`: a bounded ring of operations in posting order, from one
/// posting thread to one receiving thread. An operation is published when its predecessors are
/// published and its own bytes have been copied.
final class InprocPipe {

  static final int SLOTS = 1024;
  private static final int STAGING_BYTES = 1 << 18;

  private final InprocMessage[] slots = new InprocMessage[SLOTS];
  private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
  private final ByteRing ring = new ByteRing(STAGING_BYTES);
  // Stored with release by the posting side, loaded with acquire by the receiving side.
  private final AtomicLong published = new AtomicLong();
  // Stored with release by the receiving side, loaded with acquire by the posting side.
  private final AtomicLong consumed = new AtomicLong();
  private long reserved;
  private long reclaimed;

  InprocPipe() {
    for (int i = 0; i < SLOTS; i++) {
      slots[i] = new InprocMessage();
    }
  }

  // Methods of the posting side.

  /// Returns a slot for one more operation with `stagedBytes`, or null if it does not fit.
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

  /// Returns the first unpublished operation, or null.
  @Nullable InprocMessage unpublished() {
    long next = published.getPlain();
    return next < reserved ? slots[(int) (next & (SLOTS - 1))] : null;
  }

  /// Publishes the first unpublished operation, which this side must not access afterwards.
  void publish() {
    published.setRelease(published.getPlain() + 1);
  }

  MemorySegment staging() {
    return staging;
  }

  // Methods of the receiving side.

  /// Returns whether a published operation is not consumed yet.
  boolean hasArrived() {
    return consumed.getPlain() < published.getAcquire();
  }

  /// Returns the next published operation, or null.
  ///
  /// Hot path.
  @Nullable InprocMessage arrived() {
    long next = consumed.getPlain();
    return next < published.getAcquire() ? slots[(int) (next & (SLOTS - 1))] : null;
  }

  /// Frees the slot of the operation that `arrived` last returned.
  void consume() {
    consumed.setRelease(consumed.getPlain() + 1);
  }
}
