// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import java.util.BitSet;

/// The map of a block's taken pages. It allocates runs of pages first fit, so that the end of the
/// block stays free for as long as possible. Guarded by its owner.
public final class PageMap {

  private final int pages;
  private final BitSet taken = new BitSet();

  /// Creates a map of `pages` free pages.
  public PageMap(int pages) {
    this.pages = pages;
  }

  /// Takes the first run of `count` free pages; returns its first page, or -1 if no run is long
  /// enough.
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

  /// Frees a run of pages.
  public void give(int page, int count) {
    taken.clear(page, page + count);
  }

  /// Returns whether all pages are free.
  public boolean isFree() {
    return taken.isEmpty();
  }
}
