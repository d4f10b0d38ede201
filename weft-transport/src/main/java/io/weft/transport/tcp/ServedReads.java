// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

/// The bounded queue of the peer's unanswered read requests, stored as plain numbers.
final class ServedReads {

  private final int[] keys;
  private final int[] contexts;
  private final long[] offsets;
  private final long[] lengths;
  private final int mask;
  private int head;
  private int size;

  /// Throws `IllegalArgumentException` unless `capacity` is a power of two.
  ServedReads(int capacity) {
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is not a power of two");
    }
    mask = capacity - 1;
    keys = new int[capacity];
    contexts = new int[capacity];
    offsets = new long[capacity];
    lengths = new long[capacity];
  }

  boolean isEmpty() {
    return size == 0;
  }

  /// Returns false if the peer has more reads outstanding than allowed.
  boolean add(int key, int context, long offset, long length) {
    if (size > mask) {
      return false;
    }
    int at = (head + size++) & mask;
    keys[at] = key;
    contexts[at] = context;
    offsets[at] = offset;
    lengths[at] = length;
    return true;
  }

  int key() {
    return keys[head];
  }

  int context() {
    return contexts[head];
  }

  long offset() {
    return offsets[head];
  }

  long length() {
    return lengths[head];
  }

  void pop() {
    head = (head + 1) & mask;
    size--;
  }
}
