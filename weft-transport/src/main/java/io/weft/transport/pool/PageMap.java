// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import java.util.BitSet;

/// Which pages of a block are taken. Runs of pages are given first fit, so that a block's end stays
/// free as long as it can. Guarded by its owner.
public final class PageMap {

  private final int pages;
  private final BitSet taken = new BitSet();

  /// A map of so many pages, all free.
  public PageMap(int pages) {
    this.pages = pages;
  }

  /// The first of `count` free pages in a row, now taken; -1 if there are none.
  public int take(int count) {
    int from = taken.nextClearBit(0);
    while (from + count <= pages) {
      int end = taken.nextSetBit(from);
      if (end < 0 || end - from >= count) {
        taken.set(from, from + count);
        return from;
      }
      from = taken.nextClearBit(end);
    }
    return -1;
  }

  /// The pages are free again.
  public void give(int page, int count) {
    taken.clear(page, page + count);
  }

  /// Whether all pages are free.
  public boolean isFree() {
    return taken.isEmpty();
  }
}
