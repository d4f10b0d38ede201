// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.pool.PageMap;
import io.weft.verbs.device.Registration;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Memory of the transport that is registered as a whole and divided into pages for regions. Its
/// pool's lock guards the mutable state.
final class PoolBlock {

  static final int PAGE = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final Registration registration;
  private final PageMap map;
  // The end of the pages that were ever used; later pages are still zero.
  private int given;
  private int holdings;

  /// Throws `VerbsException`, or `OutOfMemoryError` if the JVM's limit of direct memory is
  /// exceeded.
  PoolBlock(Registrar registrar, int pages) {
    map = new PageMap(pages);
    boolean whole = false;
    try {
      memory = arena.allocate((long) pages * PAGE, PAGE);
      registration = registrar.register(memory);
      whole = true;
    } finally {
      if (!whole) {
        arena.close();
      }
    }
  }

  MemorySegment memory() {
    return memory;
  }

  long bytes() {
    return memory.byteSize();
  }

  Registration registration() {
    return registration;
  }

  /// Takes the first run of `pages` free pages; returns its first page, or -1 if no run is long
  /// enough.
  int take(int pages) {
    int page = map.take(pages);
    if (page >= 0) {
      holdings++;
    }
    return page;
  }

  /// Returns the count of pages just taken that were used before.
  int used(int page, int pages) {
    int used = Math.clamp(given - (long) page, 0, pages);
    given = Math.max(given, page + pages);
    return used;
  }

  void give(int page, int pages) {
    map.give(page, pages);
    holdings--;
  }

  /// Counts one more region that uses another region's pages.
  void share() {
    holdings++;
  }

  void unshare() {
    holdings--;
  }

  boolean isIdle() {
    return holdings == 0;
  }

  boolean contains(MemorySegment some) {
    long offset = some.address() - memory.address();
    return offset >= 0 && offset <= bytes() - some.byteSize();
  }

  void close() {
    try {
      registration.close();
    } finally {
      arena.close();
    }
  }
}
