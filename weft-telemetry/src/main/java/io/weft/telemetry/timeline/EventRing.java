// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/// A ring buffer of a rank's last events as numbers: a new event replaces the oldest. Any thread
/// writes, without waiting for another one; any thread reads.
final class EventRing {

  /// The numbers of an event in `read`: header, time, operation, value, detail.
  static final int FIELDS = 5;

  /// An event in memory: its sequence number, which is written last, and its fields.
  private static final int SLOT = FIELDS + 1;

  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] slots;
  private final int mask;
  private final AtomicLong next = new AtomicLong();

  /// Creates a ring of this number of events, which must be a power of two.
  EventRing(int events) {
    if (events < 2 || Integer.bitCount(events) != 1) {
      throw new IllegalArgumentException("a ring of " + events + " events: not a power of two");
    }
    slots = new long[Math.multiplyExact(events, SLOT)];
    mask = events - 1;
  }

  /// Returns the first number of an event: kind, category, thread and name.
  static long header(int kind, int category, int thread, int name) {
    return (long) kind << 56 | (long) category << 48 | (long) thread << 32 | name;
  }

  static int kind(long header) {
    return (int) (header >>> 56);
  }

  static int category(long header) {
    return (int) (header >>> 48) & 0xff;
  }

  static int thread(long header) {
    return (int) (header >>> 32) & 0xffff;
  }

  static int name(long header) {
    return (int) header;
  }

  /// Hot path.
  void add(long header, long nanos, long operation, long value, long detail) {
    long number = next.getAndIncrement();
    int at = (int) (number & mask) * SLOT;
    ELEMENT.setOpaque(slots, at, 0L);
    VarHandle.storeStoreFence(); // a reader that sees a field below sees the 0 too
    slots[at + 1] = header;
    slots[at + 2] = nanos;
    slots[at + 3] = operation;
    slots[at + 4] = value;
    slots[at + 5] = detail;
    ELEMENT.setRelease(slots, at, number + 1); // pairs with the acquire in read
  }

  /// Returns the number of recorded events, including overwritten ones.
  long recorded() {
    return next.getOpaque();
  }

  /// Returns the events in the ring, the oldest first, `FIELDS` numbers each. Events that are
  /// overwritten or incomplete during the call are omitted.
  long[] read() {
    long end = next.getAcquire();
    long begin = Math.max(0, end - mask - 1);
    long[] events = new long[Math.multiplyExact((int) (end - begin), FIELDS)];
    int filled = 0;
    for (long number = begin; number < end; number++) {
      int at = (int) (number & mask) * SLOT;
      long before = (long) ELEMENT.getAcquire(slots, at);
      System.arraycopy(slots, at + 1, events, filled, FIELDS);
      VarHandle.loadLoadFence(); // reads the fields before the number again
      if (before == number + 1 && (long) ELEMENT.getOpaque(slots, at) == before) {
        filled += FIELDS;
      }
    }
    return filled == events.length ? events : Arrays.copyOf(events, filled);
  }
}
