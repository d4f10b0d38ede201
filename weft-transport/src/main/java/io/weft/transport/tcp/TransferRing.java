// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// A bounded queue of reusable transfers, which it allocates on first use.
final class TransferRing {

  /// An action that follows the preceding staged bytes into the kernel: sending a payload, firing a
  /// completion, or both. Reused.
  static final class Transfer {

    /// The staging position that this transfer follows.
    long at;

    /// The region of the payload; null if there is none or the payload was staged.
    @Nullable LocalRegion region;

    long offset;
    long remaining;

    /// True if this side posted it (then `region` has a posted claim); false for the answer to a
    /// read.
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

  boolean isEmpty() {
    return size == 0;
  }

  /// Appends a cleared transfer. The ring must not be full.
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

  /// Returns the `i`-th transfer from the front, or null.
  @Nullable Transfer peek(int i) {
    return i < size ? slots[(head + i) & (slots.length - 1)] : null;
  }

  /// Removes the front transfer, which remains readable until the next `add`.
  void pop() {
    head = (head + 1) & (slots.length - 1);
    size--;
  }
}
