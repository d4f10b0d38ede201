// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Libc;
import io.weft.transport.pool.PageMap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// One memory file of this process that holds regions, with memory behind every page of it. Guarded
/// by its pool, except what never changes.
final class Extent {

  private final int number;
  private final long bytes;
  private final Arena arena;
  private final MemoryFile file;
  private final PageMap map;

  /// Throws `IOException` with the reason when the memory cannot be had.
  Extent(String prefix, int number, long bytes) throws IOException {
    this.number = number;
    this.bytes = bytes;
    map = new PageMap((int) (bytes / ControlLayout.PAGE));
    arena = Arena.ofShared();
    boolean whole = false;
    try {
      file = MemoryFile.create(name(prefix, number), bytes, arena);
      int found = Libc.populate(file.descriptor(), file.memory().address(), bytes);
      whole = found == 0;
      if (!whole) {
        file.closeDescriptor();
        throw new IOException("finding pages: " + MemoryFile.reason(found));
      }
    } finally {
      if (!whole) {
        arena.close();
      }
    }
  }

  static String name(String prefix, int number) {
    return prefix + "extent-" + number;
  }

  int number() {
    return number;
  }

  int descriptor() {
    return file.descriptor();
  }

  long bytes() {
    return bytes;
  }

  MemorySegment memory() {
    return file.memory();
  }

  /// Where this memory begins in the extent; -1 if not all of it lies there.
  long offsetOf(MemorySegment some) {
    long offset = some.address() - file.memory().address();
    return offset >= 0 && offset <= bytes - some.byteSize() ? offset : -1;
  }

  /// The first of so many free pages in a row, now taken; -1 if there are none.
  int take(int pages) {
    return map.take(pages);
  }

  void give(int page, int pages) {
    map.give(page, pages);
  }

  boolean isIdle() {
    return map.isFree();
  }

  /// Gives the memory back to the system, whoever maps it.
  void close() {
    // What peers still map costs nothing from here on.
    var unused = Libc.discard(file.memory().address(), bytes);
    file.closeDescriptor();
    arena.close();
  }
}
