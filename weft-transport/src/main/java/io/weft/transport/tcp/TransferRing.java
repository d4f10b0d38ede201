// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// A bounded queue of reusable transfers, made when first needed.
final class TransferRing {

  /// Something that happens when the staged bytes before it have been handed to the kernel: a
  /// payload is sent, a completion fires, or both. Reused.
  static final class Transfer {

    /// Staging position that comes before.
    long at;

    /// Payload, null when there is none or it was staged.
    @Nullable LocalRegion region;

    long offset;
    long remaining;

    /// Posted by this side (then `region` holds a posted claim), not the answer to a read.
    boolean own;

    @Nullable Completion done;
    @Nullable TransportException error;

    void clear() {
      region = null;
      done = null;
      error = null;
      remaining = 0;
    }
  }

  private final @Nullable Transfer[] slots;
  private int head;
  private int size;

  /// Throws `IllegalArgumentException` unless `capacity` is a power of two.
  TransferRing(int capacity) {
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is not a power of two");
    }
    slots = new Transfer[capacity];
  }

  boolean isFull() {
    return size == slots.length;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /// Appends a cleared transfer. The ring is not full.
  Transfer add() {
    int index = (head + size) & (slots.length - 1);
    Transfer transfer = slots[index];
    if (transfer == null) {
      transfer = new Transfer();
      slots[index] = transfer;
    }
    size++;
    return transfer;
  }

  /// The `i`-th from the front, or null.
  @Nullable Transfer peek(int i) {
    return i < size ? slots[(head + i) & (slots.length - 1)] : null;
  }

  /// Removes the front one, which stays readable until the next `add`.
  void pop() {
    head = (head + 1) & (slots.length - 1);
    size--;
  }
}
