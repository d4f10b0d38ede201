// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.pool.PageMap;
import io.weft.verbs.device.Registration;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Memory of the transport that is registered as a whole and given to regions by pages. Guarded by
/// its pool, except what never changes.
final class PoolBlock {

  static final int PAGE = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final Registration registration;
  private final PageMap map;
  // Pages behind these have never been given, so they are zero still.
  private int given;
  private int holdings;

  /// Throws `VerbsException`, or `OutOfMemoryError` where the JVM's bound for direct memory is in
  /// the way.
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

  /// The first of so many pages in a row, now taken; -1 if there are none.
  int take(int pages) {
    int page = map.take(pages);
    if (page >= 0) {
      holdings++;
    }
    return page;
  }

  /// Of pages just taken, those that somebody had before.
  int used(int page, int pages) {
    int used = Math.clamp(given - (long) page, 0, pages);
    given = Math.max(given, page + pages);
    return used;
  }

  void give(int page, int pages) {
    map.give(page, pages);
    holdings--;
  }

  /// One more region uses pages that another one has.
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

  /// Ends the registration, then gives the memory back.
  void close() {
    try {
      registration.close();
    } finally {
      arena.close();
    }
  }
}
