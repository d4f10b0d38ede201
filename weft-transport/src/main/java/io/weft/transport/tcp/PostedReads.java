// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// Reads of ours that wait for their data, in a slab. The context that the peer echoes is a slab
/// index (low 12 bits) and that slot's generation (20 bits), so that an answer finds its read
/// without a map, and an answer to nothing is recognised.
final class PostedReads {

  private static final int INDEX_BITS = 12;
  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /// One slot; `context` is valid while `done` is set.
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

  /// The context that the next `add` will give. The slab is not full.
  int next() {
    return slots[free[freeCount - 1]].context + (1 << INDEX_BITS);
  }

  /// Takes a slot; the region already counts the posted work.
  void add(LocalRegion into, long offset, long bytes, Completion done) {
    Read read = slots[free[--freeCount]];
    read.context += 1 << INDEX_BITS;
    read.into = into;
    read.offset = offset;
    read.bytes = bytes;
    read.done = done;
  }

  /// The read that waits for this context, or null.
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

  /// Fails all that wait.
  void fail(TransportException cause) {
    for (Read read : slots) {
      if (read.done != null) {
        finish(read, cause);
      }
    }
  }
}
