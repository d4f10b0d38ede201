// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The long transfers between this rank and one peer in one direction: parts of at most `BYTES` in
/// total are in progress, the other transfers wait in the order of need. Of two transfers the more
/// urgent one moves next, and of equally urgent ones the earlier. A transfer that waits is
/// overtaken by at most `OVERTAKEN_BYTES`, so that none waits forever. A binary heap. Confined to
/// the progress thread.
final class TransferWindow {

  /// Maximum length of the parts in progress, and of one part.
  static final long BYTES = 4 << 20;

  /// Maximum payload that overtakes a waiting transfer: more than a step has.
  static final long OVERTAKEN_BYTES = 1L << 32;

  private final long maxPartBytes;

  private @Nullable PendingTransfer[] heap = new PendingTransfer[16];
  private int waiting;

  /// The payload that has become ready since the window was empty.
  private long enteredBytes;

  private long tickets;
  private long inProgressBytes;

  /// True while this window is in its side's list of windows in which transfers wait.
  private boolean listed;

  /// Creates an empty window.
  ///
  /// @param maxTransferBytes the transport's longest read or write
  TransferWindow(long maxTransferBytes) {
    maxPartBytes = Math.min(BYTES, maxTransferBytes);
  }

  boolean hasWaiting() {
    return waiting > 0;
  }

  long inProgressBytes() {
    return inProgressBytes;
  }

  boolean isListed() {
    return listed;
  }

  void listed(boolean now) {
    listed = now;
  }

  /// Adds a transfer that has become ready.
  ///
  /// Hot path.
  void enter(PendingTransfer it) {
    if (waiting == 0 && inProgressBytes == 0) {
      enteredBytes = 0;
    }
    it.window = this;
    it.turn = ((enteredBytes / OVERTAKEN_BYTES) << Integer.SIZE) - it.route.urgency();
    it.ticket = tickets++;
    enteredBytes += it.bytes();
    add(it);
  }

  /// Adds a transfer again that has left a part unmoved; it keeps its place in the order.
  ///
  /// Hot path.
  void again(PendingTransfer it) {
    inProgressBytes -= it.partBytes;
    add(it);
  }

  private void add(PendingTransfer it) {
    it.partBytes = Math.min(maxPartBytes, it.leftBytes());
    if (waiting == heap.length) {
      heap = Arrays.copyOf(heap, 2 * waiting);
    }
    rise(waiting++, it);
  }

  /// Removes the transfer that moves next and gives its next part a place. Returns null if none
  /// waits or the window has no room.
  ///
  /// Hot path.
  @Nullable PendingTransfer next() {
    PendingTransfer first = heap[0];
    if (first == null || inProgressBytes + first.partBytes > BYTES) {
      return null;
    }
    remove(first);
    inProgressBytes += first.partBytes;
    return first;
  }

  /// Removes a transfer that waits, or gives back its place.
  ///
  /// Hot path.
  void leave(PendingTransfer it) {
    if (it.position == PendingTransfer.NOT_WAITING) {
      inProgressBytes -= it.partBytes;
    } else {
      remove(it);
    }
    it.window = null;
  }

  // --- the heap

  private void remove(PendingTransfer it) {
    int at = it.position;
    it.position = PendingTransfer.NOT_WAITING;
    PendingTransfer last = at(--waiting);
    heap[waiting] = null;
    if (last != it) {
      rise(at, last);
      sink(last.position, last);
    }
  }

  private void rise(int from, PendingTransfer it) {
    int at = from;
    while (at > 0 && precedes(it, at((at - 1) / 2))) {
      put(at, at((at - 1) / 2));
      at = (at - 1) / 2;
    }
    put(at, it);
  }

  private void sink(int from, PendingTransfer it) {
    int at = from;
    for (int child = 2 * at + 1; child < waiting; child = 2 * at + 1) {
      if (child + 1 < waiting && precedes(at(child + 1), at(child))) {
        child++;
      }
      if (!precedes(at(child), it)) {
        break;
      }
      put(at, at(child));
      at = child;
    }
    put(at, it);
  }

  private void put(int at, PendingTransfer it) {
    heap[at] = it;
    it.position = at;
  }

  private PendingTransfer at(int position) {
    return Objects.requireNonNull(heap[position]);
  }

  private static boolean precedes(PendingTransfer one, PendingTransfer other) {
    return one.turn != other.turn ? one.turn < other.turn : one.ticket < other.ticket;
  }
}
