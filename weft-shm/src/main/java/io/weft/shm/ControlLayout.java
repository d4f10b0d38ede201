// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The layout of shared memory, in the byte order of the host (docs/protocol/shm.md). Words with
/// different writers are 128 bytes apart, because processors fetch cache lines in pairs.
final class ControlLayout {

  /// The version of this layout; processes with different versions communicate over TCP.
  static final int VERSION = 2;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  static final int PAGE = 4096;

  // The control file, one for each process. The process writes it; peers read it and ring the bell.

  /// The state of the waiting process: see `Doorbell`.
  static final long BELL = 0;

  /// The regions, indexed by the low 16 bits of their keys.
  static final long SLOTS = PAGE;

  static final int SLOT_COUNT = 1 << 16;
  static final int SLOT_BYTES = 64;

  /// The key, with `OPEN` above it.
  static final int SLOT_STATE = 0;

  static final int SLOT_EXTENT = 8;
  static final int SLOT_FILE = 12;
  static final int SLOT_OFFSET = 16;
  static final int SLOT_LENGTH = 24;
  static final int SLOT_EXTENT_BYTES = 32;
  static final long OPEN = 1L << 32;

  static final long CONTROL_BYTES = SLOTS + (long) SLOT_COUNT * SLOT_BYTES;

  // The link file, one for each direction of a pair. It belongs to the receiver.

  /// Written by the sender: the end of the published part of the ring.
  static final long TAIL = 0;

  /// Written by the sender: the bytes that it has written directly into the receiver's regions.
  static final long PROGRESS = 8;

  /// Written by the receiver: the start of the unconsumed part of the ring.
  static final long HEAD = 128;

  /// Written by the receiver: the count of staging slots that it has emptied.
  static final long EMPTIED = 136;

  /// Written by the receiver: nonzero after its endpoint has ended.
  static final long ENDED = 144;

  /// Set by a sender that waits for room, cleared by the receiver that wakes it.
  static final long WANTS_ROOM = 256;

  static final long RING = PAGE;
  static final int RING_BYTES = 1 << 17;

  /// The count of the sender's visits in each region of the receiver, by the low 16 bits of the
  /// key.
  static final long VISITS = RING + RING_BYTES;

  static final int STAGING_SLOTS = 8;
  static final int STAGING_SLOT_BYTES = 1 << 16;
  static final long STAGING = VISITS + (long) SLOT_COUNT * Integer.BYTES;
  static final long LINK_BYTES = STAGING + (long) STAGING_SLOTS * STAGING_SLOT_BYTES;

  private ControlLayout() {}

  static int index(int key) {
    return key & (SLOT_COUNT - 1);
  }

  static long slot(int key) {
    return SLOTS + (long) index(key) * SLOT_BYTES;
  }

  static long visits(int key) {
    return VISITS + (long) index(key) * Integer.BYTES;
  }
}
