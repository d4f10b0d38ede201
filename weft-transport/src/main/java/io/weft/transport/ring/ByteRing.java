// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.ring;

/// The bookkeeping of a ring of bytes in which every piece is contiguous. Positions only grow; the
/// index in memory is `position & (capacity - 1)`. A piece that does not fit before the end of a
/// lap begins the next lap and leaves a gap. An empty ring begins a new lap. Confined to one
/// thread.
public final class ByteRing {

  private static final long NO_GAP = Long.MAX_VALUE;

  private final int capacity;
  private long head;
  private long tail;
  private long gapFrom = NO_GAP;

  /// Creates an empty ring. Throws `IllegalArgumentException` unless `capacity` is a power of two.
  public ByteRing(int capacity) {
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is not a power of two");
    }
    this.capacity = capacity;
  }

  /// Reserves `bytes`; returns their first index, or -1 if they do not fit now.
  ///
  /// Hot path.
  public int reserve(int bytes) {
    if (head == tail) {
      restart();
    }
    int index = index(head);
    if (index + bytes > capacity) {
      long next = lapEnd(head);
      if (next + bytes - tail > capacity) {
        return -1;
      }
      gapFrom = head;
      head = next;
      index = 0;
    } else if (head + bytes - tail > capacity) {
      return -1;
    }
    head += bytes;
    return index;
  }

  /// Returns whether `reserve` would find room for `bytes` now.
  ///
  /// Hot path.
  public boolean fits(int bytes) {
    if (head == tail) {
      return bytes <= capacity;
    }
    long end = index(head) + bytes > capacity ? lapEnd(head) + bytes : head + bytes;
    return end - tail <= capacity;
  }

  /// Returns the end of the reserved bytes.
  public long head() {
    return head;
  }

  /// Returns the start of the bytes that are not released.
  public long tail() {
    return tail;
  }

  /// Returns whether the ring is empty.
  public boolean isEmpty() {
    return head == tail;
  }

  /// Returns the index of `position` in memory.
  public int index(long position) {
    return (int) (position & (capacity - 1));
  }

  /// Returns the first position at or after `position` that holds a byte; it skips a gap that
  /// begins there.
  ///
  /// Hot path.
  public long skipGap(long position) {
    return position == gapFrom ? lapEnd(position) : position;
  }

  /// Returns the end of the contiguous bytes from `position` (not in the gap), at most `limit`.
  ///
  /// Hot path.
  public long runEnd(long position, long limit) {
    long end = Math.min(limit, lapEnd(position));
    return gapFrom > position ? Math.min(end, gapFrom) : end;
  }

  /// Releases everything before `position`.
  ///
  /// Hot path.
  public void release(long position) {
    tail = position;
    if (gapFrom <= tail) {
      tail = Math.max(tail, lapEnd(gapFrom));
      gapFrom = NO_GAP;
    }
  }

  private long lapEnd(long position) {
    return (position & -(long) capacity) + capacity;
  }

  private void restart() {
    if (index(head) != 0) {
      head = lapEnd(head);
      tail = head;
    }
    gapFrom = NO_GAP;
  }
}
