// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Libc;
import io.weft.transport.pool.PageMap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A memory file of this process that contains regions; memory backs all its pages. Its pool's lock
/// guards the mutable state.
final class Extent {

  private final int number;
  private final long bytes;
  private final Arena arena;
  private final MemoryFile file;
  private final PageMap map;

  /// Throws `IOException` with the reason if the memory cannot be allocated.
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
        throw new IOException("allocating pages: " + MemoryFile.reason(found));
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

  /// Returns the offset of this memory in the extent; -1 if it does not lie entirely inside.
  long offsetOf(MemorySegment some) {
    long offset = some.address() - file.memory().address();
    return offset >= 0 && offset <= bytes - some.byteSize() ? offset : -1;
  }

  /// Takes the first run of `pages` free pages; returns its first page, or -1 if no run is long
  /// enough.
  int take(int pages) {
    return map.take(pages);
  }

  void give(int page, int pages) {
    map.give(page, pages);
  }

  boolean isIdle() {
    return map.isFree();
  }

  /// Returns the memory to the system, even if peers map it.
  void close() {
    // After this call the mappings of peers use no memory.
    var unused = Libc.discard(file.memory().address(), bytes);
    file.closeDescriptor();
    arena.close();
  }
}
