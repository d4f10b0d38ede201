// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// The table of this side's reads that wait for data. The context, which the peer echoes, consists
/// of a slot index (low 12 bits) and the slot's generation (20 bits). An answer therefore finds its
/// read without a map, and an answer without a read is detected.
final class PostedReads {

  private static final int INDEX_BITS = 12;
  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /// One slot of the table; `context` is valid while `done` is set.
  static final class Read {
    private int context;
    private @Nullable LocalRegion into;
    private long offset;
    private long bytes;
    private @Nullable Completion done;

    LocalRegion into() {
      LocalRegion region = into;
      if (region == null) {
        throw new IllegalStateException("this read is not posted");
      }
      return region;
    }

    long offset() {
      return offset;
    }

    long bytes() {
      return bytes;
    }
  }

  private final Read[] slots;
  private final int[] free;
  private int freeCount;

  PostedReads(int capacity) {
    slots = new Read[capacity];
    free = new int[capacity];
    freeCount = capacity;
    for (int i = 0; i < capacity; i++) {
      slots[i] = new Read();
      slots[i].context = i;
      free[i] = capacity - 1 - i;
    }
  }

  boolean isFull() {
    return freeCount == 0;
  }

  /// Returns the context that the next `add` will assign. The table must not be full.
  int next() {
    return slots[free[freeCount - 1]].context + (1 << INDEX_BITS);
  }

  /// Occupies a slot; the caller has already counted the posted work of the region.
  void add(LocalRegion into, long offset, long bytes, Completion done) {
    Read read = slots[free[--freeCount]];
    read.context += 1 << INDEX_BITS;
    read.into = into;
    read.offset = offset;
    read.bytes = bytes;
    read.done = done;
  }

  /// Returns the posted read with this context, or null.
  @Nullable Read find(int context) {
    int index = context & INDEX_MASK;
    if (index >= slots.length) {
      return null;
    }
    Read read = slots[index];
    return read.done != null && read.context == context ? read : null;
  }

  /// Frees the slot and fires its completion.
  void finish(Read read, @Nullable TransportException error) {
    Completion done = read.done;
    LocalRegion into = read.into;
    read.done = null;
    read.into = null;
    free[freeCount++] = read.context & INDEX_MASK;
    if (into != null) {
      into.settle();
    }
    if (done != null) {
      done.complete(error);
    }
  }

  void fail(TransportException cause) {
    for (Read read : slots) {
      if (read.done != null) {
        finish(read, cause);
      }
    }
  }
}
