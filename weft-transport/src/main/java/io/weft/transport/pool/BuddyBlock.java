// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import io.weft.transport.MemoryRegion;
import java.util.Arrays;

/// One registered region divided into pieces of powers of two pages. A freed piece is merged with
/// its buddy, so that small leases do not fragment the block permanently [Knuth, TAOCP 1, 2.5]. The
/// order of a piece is the binary logarithm of its page count. Guarded by its pool's lock.
final class BuddyBlock {

  static final int PAGE_BYTES = 4096;
  private static final byte TAKEN = -1;
  private static final int NONE = -1;

  private final MemoryRegion region;
  private final int orders;
  // The order of the free piece that begins at a page, TAKEN for any other page.
  private final byte[] freeOrder;
  // The free pieces of one order form a doubly linked list of their first pages.
  private final int[] next;
  private final int[] previous;
  private final int[] first;
  private int takenPages;

  /// Creates a block whose memory has 2^(orders-1) pages.
  BuddyBlock(MemoryRegion region, int orders) {
    this.region = region;
    this.orders = orders;
    int pages = 1 << (orders - 1);
    freeOrder = new byte[pages];
    next = new int[pages];
    previous = new int[pages];
    first = new int[orders];
    Arrays.fill(freeOrder, TAKEN);
    Arrays.fill(first, NONE);
    link(0, orders - 1);
  }

  MemoryRegion region() {
    return region;
  }

  long bytes() {
    return (long) freeOrder.length * PAGE_BYTES;
  }

  boolean isIdle() {
    return takenPages == 0;
  }

  /// Takes a piece of this order; returns its first page, or -1 if no piece is free.
  int take(int order) {
    int from = order;
    while (from < orders && first[from] == NONE) {
      from++;
    }
    if (from >= orders) {
      return NONE;
    }
    int page = first[from];
    unlink(page, from);
    while (from > order) {
      from--;
      link(page + (1 << from), from);
    }
    takenPages += 1 << order;
    return page;
  }

  void give(int page, int order) {
    takenPages -= 1 << order;
    int at = page;
    int merged = order;
    while (merged < orders - 1) {
      int buddy = at ^ (1 << merged);
      if (freeOrder[buddy] != merged) {
        break;
      }
      unlink(buddy, merged);
      at = Math.min(at, buddy);
      merged++;
    }
    link(at, merged);
  }

  private void link(int page, int order) {
    int head = first[order];
    next[page] = head;
    previous[page] = NONE;
    if (head != NONE) {
      previous[head] = page;
    }
    first[order] = page;
    freeOrder[page] = (byte) order;
  }

  private void unlink(int page, int order) {
    if (previous[page] == NONE) {
      first[order] = next[page];
    } else {
      next[previous[page]] = next[page];
    }
    if (next[page] != NONE) {
      previous[next[page]] = previous[page];
    }
    freeOrder[page] = TAKEN;
  }
}
