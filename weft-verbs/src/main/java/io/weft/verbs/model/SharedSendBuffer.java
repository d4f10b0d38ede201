// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.transport.ring.ByteRing;
import io.weft.verbs.device.ProtectionDomain;
import io.weft.verbs.device.Registration;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The ring-shaped send buffer of all queue pairs [PSLITE §3.1, models 1 and 2]. Places are reused
/// in the order of their reservation. A frame that is sent late, because its peer is slow or lost,
/// therefore blocks all later places. Frames that are short enough to be posted inline are built
/// outside the ring and occupy no place.
public final class SharedSendBuffer implements SendBuffer, AutoCloseable {

  private static final int FRAMES = 1 << 12;
  private static final int MASK = FRAMES - 1;
  private static final int ALIGNMENT = 64;
  private static final int PAGE_BYTES = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final Registration registration;
  private final ByteRing ring;
  private final int ringBytes;
  private final int inlineBytes;
  // Indexed by ticket modulo FRAMES: the end of each frame in the ring, and true if it is released.
  private final long[] ends = new long[FRAMES];
  private final boolean[] ended = new boolean[FRAMES];
  private int oldest;
  private int next;
  private int ticket = NO_TICKET;

  /// Allocates and registers the buffer. Throws `VerbsException`.
  ///
  /// @param ringBytes a power of two, at least twice as long as the longest frame
  /// @param inlineBytes maximum length of frames that are posted inline
  public SharedSendBuffer(ProtectionDomain domain, int ringBytes, int inlineBytes) {
    this.ringBytes = ringBytes;
    this.inlineBytes = inlineBytes;
    ring = new ByteRing(ringBytes);
    boolean whole = false;
    try {
      memory = arena.allocate((long) ringBytes + PAGE_BYTES, PAGE_BYTES);
      registration = domain.register(memory, Registration.Access.LOCAL);
      whole = true;
    } finally {
      if (!whole) {
        arena.close();
      }
    }
  }

  @Override
  public Registration registration() {
    return registration;
  }

  @Override
  public long offset() {
    return 0;
  }

  @Override
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public boolean fits(int bytes) {
    return bytes <= inlineBytes || (next - oldest < FRAMES && ring.fits(span(bytes)));
  }

  @Override
  public int reserve(int index, int bytes) {
    if (bytes <= inlineBytes) {
      ticket = NO_TICKET;
      return ringBytes;
    }
    int place = ring.reserve(span(bytes));
    ticket = next++ & MASK;
    ends[ticket] = ring.head();
    ended[ticket] = false;
    return place;
  }

  private static int span(int bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  @Override
  public int ticket() {
    return ticket;
  }

  @Override
  public void giveBack(int some) {
    ended[some] = true;
    while (oldest != next && ended[oldest & MASK]) {
      ring.release(ends[oldest++ & MASK]);
    }
  }

  boolean isEmpty() {
    return oldest == next;
  }

  /// Frees the memory, whose registration has ended with its device.
  @Override
  public void close() {
    arena.close();
  }
}
