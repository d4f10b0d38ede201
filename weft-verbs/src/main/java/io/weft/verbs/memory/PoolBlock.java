// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.pool.PageMap;
import io.weft.verbs.device.Registration;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/// Memory of the transport that is registered as a whole and divided into pages for regions. The
/// devices of peers to which it is offered may access all of it. The pool's lock guards the pages
/// and their users; the offers are thread-safe.
public final class PoolBlock {

  static final int PAGE = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final Registration registration;
  private final PageMap map;
  private final boolean checksFreed;
  // For each page the first page of its run, or -1 if the page is free.
  private final int[] runs;
  // At the first page of each run: its length, and the number of regions that use it.
  private final int[] lengths;
  private final int[] users;
  // The end of the pages that were ever used; later pages are still zero.
  private int given;
  private int holdings;
  // The numbers of the endpoints whose peers may access the memory. Guarded by this.
  private final BitSet offered = new BitSet();
  private boolean discarded;

  /// Throws `VerbsException`, or `OutOfMemoryError` if the JVM's limit of direct memory is
  /// exceeded.
  ///
  /// @param checksFreed whether accesses to freed pages are looked for
  PoolBlock(Registrar registrar, int pages, boolean checksFreed) {
    map = new PageMap(pages);
    this.checksFreed = checksFreed;
    runs = new int[pages];
    lengths = new int[pages];
    users = new int[pages];
    Arrays.fill(runs, -1);
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

  /// Returns the memory.
  public MemorySegment memory() {
    return memory;
  }

  long bytes() {
    return memory.byteSize();
  }

  /// Returns the registration of all the memory.
  public Registration registration() {
    return registration;
  }

  // --- pages

  /// Takes the first run of `pages` free pages; returns its first page, or -1 if no run is long
  /// enough.
  int take(int pages) {
    int page = map.take(pages);
    if (page >= 0) {
      Arrays.fill(runs, page, page + pages, page);
      lengths[page] = pages;
      users[page] = 1;
      holdings++;
    }
    return page;
  }

  /// Returns the count of pages just taken that were used before.
  int used(int page, int pages) {
    int used = Math.clamp(given - (long) page, 0, pages);
    given = Math.max(given, page + pages);
    if (checksFreed) {
      FreedMemory.check(run(page, used));
    }
    return used;
  }

  /// Counts one more region in the run of pages that contains this memory; returns the first page
  /// of the run, or -1 if no region owns the pages.
  int share(MemorySegment some) {
    long offset = some.address() - memory.address();
    int page = runs[(int) (offset / PAGE)];
    if (page < 0 || offset + some.byteSize() > (long) (page + lengths[page]) * PAGE) {
      return -1;
    }
    users[page]++;
    return page;
  }

  /// Counts one region less in the run of pages, which is free after the last one.
  void give(int page) {
    users[page]--;
    if (users[page] == 0) {
      if (checksFreed) {
        FreedMemory.fill(run(page, lengths[page]));
      }
      Arrays.fill(runs, page, page + lengths[page], -1);
      map.give(page, lengths[page]);
      holdings--;
    }
  }

  private MemorySegment run(int page, int pages) {
    return memory.asSlice((long) page * PAGE, (long) pages * PAGE);
  }

  boolean isIdle() {
    return holdings == 0;
  }

  boolean contains(MemorySegment some) {
    long offset = some.address() - memory.address();
    return offset >= 0 && offset <= bytes() - some.byteSize();
  }

  // --- offers

  /// Permits the device of an endpoint's peer to access the memory. Returns false if the pool has
  /// discarded the block.
  public synchronized boolean offer(int endpoint) {
    if (!discarded) {
      offered.set(endpoint);
    }
    return !discarded;
  }

  /// Returns the endpoints whose peers may access the memory.
  public synchronized BitSet offeredTo() {
    return (BitSet) offered.clone();
  }

  /// Returns whether the pool has discarded the block, so that its peers must leave it.
  public synchronized boolean isDiscarded() {
    return discarded;
  }

  /// Discards the idle block. Returns false if peers must leave it first.
  boolean discard() {
    boolean ended;
    synchronized (this) {
      discarded = true;
      ended = offered.isEmpty();
    }
    if (ended) {
      close();
    }
    return ended;
  }

  /// Records that the peer of this endpoint no longer accesses the memory.
  public void left(int endpoint) {
    boolean ended;
    synchronized (this) {
      boolean last = offered.get(endpoint) && offered.cardinality() == 1;
      offered.clear(endpoint);
      ended = discarded && last;
    }
    if (ended) {
      close();
    }
  }

  private void close() {
    try (arena) {
      registration.close();
      if (checksFreed) {
        FreedMemory.check(run(0, given));
      }
    }
  }
}
