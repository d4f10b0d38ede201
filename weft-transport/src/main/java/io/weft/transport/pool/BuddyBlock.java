// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import io.weft.transport.MemoryRegion;
import java.util.Arrays;

/// One registered region cut into pieces of powers of two pages; a freed piece is merged with its
/// buddy, so that small leases do not break the block up for good [Knuth, TAOCP 1, 2.5]. An order
/// is the logarithm of a piece's pages. Guarded by its pool.
final class BuddyBlock {

  static final int PAGE_BYTES = 4096;
  private static final byte TAKEN = -1;
  private static final int NONE = -1;

  private final MemoryRegion region;
  private final int orders;
  // Order of the free piece that begins at a page, TAKEN for any other page.
  private final byte[] freeOrder;
  // Free pieces of one order are a doubly linked list of their first pages.
  private final int[] next;
  private final int[] previous;
  private final int[] first;
  private int takenPages;

  /// A block whose memory has 2^(orders-1) pages.
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

  /// First page of a piece of this order, -1 if there is none.
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
