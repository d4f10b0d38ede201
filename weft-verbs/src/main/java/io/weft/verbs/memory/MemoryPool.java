// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.TransportException;
import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The transport's own memory in registered blocks. Short regions share blocks of 16 MiB; a long
/// region has a separate block. An idle block is kept within the bound for the next region that
/// fits. Thread-safe.
final class MemoryPool {

  private static final long SHARED_BYTES = 16L << 20;
  private static final long LONG_BYTES = SHARED_BYTES / 4;
  private static final int PAGE = PoolBlock.PAGE;
  private static final long MAX_BYTES = (long) Integer.MAX_VALUE * PAGE;

  private final Registrar registrar;
  private final ReentrantLock lock;
  private final MemorySettings settings;
  private final Blocks listener;
  private final TreeMap<Long, PoolBlock> byAddress = new TreeMap<>();
  // The longest idle block first.
  private final ArrayDeque<PoolBlock> idle = new ArrayDeque<>();
  private long idleBytes;
  private boolean closed;

  /// The listeners to changes of the pool, which are called with the lock.
  ///
  /// @param added called for a new block
  /// @param discarded called for a discarded block that peers must leave before its memory is freed
  record Blocks(Consumer<PoolBlock> added, Consumer<PoolBlock> discarded) {}

  /// @param lock also held during calls of the registrar
  MemoryPool(Registrar registrar, ReentrantLock lock, MemorySettings settings, Blocks listener) {
    this.registrar = registrar;
    this.lock = lock;
    this.settings = settings;
    this.listener = listener;
  }

  /// Allocates zeroed memory for one region. Throws `VerbsException` if it cannot be registered,
  /// and `TransportException.Registration` if it cannot be allocated.
  Holding allocate(long bytes) {
    if (bytes > MAX_BYTES) {
      throw new TransportException.Registration(
          "allocate " + bytes + " bytes for verbs failed: a region has at most " + MAX_BYTES, null);
    }
    int pages = (int) Math.max(1, (bytes + PAGE - 1) / PAGE);
    Pages taken;
    int used;
    lock.lock();
    try {
      taken = take(pages, bytes);
      used = taken.block().used(taken.page(), pages);
    } finally {
      lock.unlock();
    }
    taken.memory().asSlice(0, Math.min(bytes, (long) used * PAGE)).fill((byte) 0);
    return taken;
  }

  private Pages take(int pages, long bytes) {
    long rounded = (long) pages * PAGE;
    boolean isLong = rounded > LONG_BYTES || settings.poolBytes() == 0;
    for (PoolBlock block : byAddress.values()) {
      // A long region's block is not divided, because the last short region would keep all of it.
      boolean fits = isLong ? isSpare(block, rounded) : block.bytes() == SHARED_BYTES;
      int page = fits ? block.take(pages) : -1;
      if (page >= 0) {
        wake(block);
        return pages(block, page, bytes);
      }
    }
    PoolBlock block = add(isLong ? pages : (int) (SHARED_BYTES / PAGE), bytes);
    return pages(block, block.take(pages), bytes);
  }

  private Pages pages(PoolBlock block, int page, long bytes) {
    return new Pages(this, block, page, block.memory().asSlice((long) page * PAGE, bytes));
  }

  private static boolean isSpare(PoolBlock block, long bytes) {
    return block.isIdle() && block.bytes() >= bytes && block.bytes() / 2 <= bytes;
  }

  private PoolBlock add(int pages, long bytes) {
    try {
      PoolBlock block = new PoolBlock(registrar, pages, settings.checksFreed());
      byAddress.put(block.memory().address(), block);
      listener.added().accept(block);
      return block;
    } catch (OutOfMemoryError e) {
      throw new TransportException.Registration(
          "allocate "
              + bytes
              + " bytes for verbs failed: "
              + e.getMessage()
              + "; the limit is -XX:MaxDirectMemorySize (by default the heap's -Xmx)",
          e);
    }
  }

  /// Returns a claim on a region within another region of this pool; null if the memory is not in
  /// the pool.
  @Nullable Holding within(MemorySegment memory) {
    lock.lock();
    try {
      PoolBlock block = block(memory);
      int page = block == null ? -1 : block.share(memory);
      return block == null || page < 0 ? null : new Pages(this, block, page, memory);
    } finally {
      lock.unlock();
    }
  }

  /// Returns whether the memory lies in this pool.
  boolean contains(MemorySegment memory) {
    lock.lock();
    try {
      return block(memory) != null;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable PoolBlock block(MemorySegment memory) {
    Map.Entry<Long, PoolBlock> found = byAddress.floorEntry(memory.address());
    return found == null || !found.getValue().contains(memory) ? null : found.getValue();
  }

  /// Returns all blocks.
  List<PoolBlock> blocks() {
    lock.lock();
    try {
      return List.copyOf(byAddress.values());
    } finally {
      lock.unlock();
    }
  }

  private void wake(PoolBlock block) {
    if (idle.removeFirstOccurrence(block)) {
      idleBytes -= block.bytes();
    }
  }

  private void released(PoolBlock block) {
    if (block.isIdle()) {
      idle.add(block);
      idleBytes += block.bytes();
      giveUp(closed ? 0 : settings.poolBytes());
    }
  }

  /// Releases idle blocks until at most `most` bytes are idle; returns the released bytes.
  private long giveUp(long most) {
    long before = idleBytes;
    while (idleBytes > most) {
      PoolBlock block = idle.remove();
      idleBytes -= block.bytes();
      byAddress.remove(block.memory().address());
      if (!block.discard()) {
        listener.discarded().accept(block);
      }
    }
    return before - idleBytes;
  }

  /// Releases all idle blocks; returns the released bytes.
  long reclaim() {
    lock.lock();
    try {
      return giveUp(0);
    } finally {
      lock.unlock();
    }
  }

  /// Closes the pool; from now on memory is released as soon as it is idle.
  void close() {
    lock.lock();
    try {
      closed = true;
      giveUp(0);
    } finally {
      lock.unlock();
    }
  }

  /// A region's claim on a run of pages, which is free when all its regions have been released.
  private record Pages(MemoryPool pool, PoolBlock block, int page, MemorySegment memory)
      implements Holding {

    @Override
    public Registration registration() {
      return block.registration();
    }

    @Override
    public void release() {
      pool.lock.lock();
      try {
        block.give(page);
        pool.released(block);
      } finally {
        pool.lock.unlock();
      }
    }
  }
}
