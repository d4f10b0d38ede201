// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.TransportException;
import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
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
  private final long maxIdleBytes;
  private final TreeMap<Long, PoolBlock> byAddress = new TreeMap<>();
  // The longest idle block first.
  private final ArrayDeque<PoolBlock> idle = new ArrayDeque<>();
  private long idleBytes;
  private boolean closed;

  /// @param lock also held during calls of the registrar
  /// @param maxIdleBytes bound of idle registered memory
  MemoryPool(Registrar registrar, ReentrantLock lock, long maxIdleBytes) {
    this.registrar = registrar;
    this.lock = lock;
    this.maxIdleBytes = maxIdleBytes;
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
    boolean isLong = rounded > LONG_BYTES || maxIdleBytes == 0;
    for (PoolBlock block : byAddress.values()) {
      // A long region's block is not divided, because the last short region would keep all of it.
      boolean fits = isLong ? isSpare(block, rounded) : block.bytes() == SHARED_BYTES;
      int page = fits ? block.take(pages) : -1;
      if (page >= 0) {
        wake(block);
        return new Pages(this, block, page, pages, bytes);
      }
    }
    PoolBlock block = add(isLong ? pages : (int) (SHARED_BYTES / PAGE), bytes);
    return new Pages(this, block, block.take(pages), pages, bytes);
  }

  private static boolean isSpare(PoolBlock block, long bytes) {
    return block.isIdle() && block.bytes() >= bytes && block.bytes() / 2 <= bytes;
  }

  private PoolBlock add(int pages, long bytes) {
    try {
      PoolBlock block = new PoolBlock(registrar, pages);
      byAddress.put(block.memory().address(), block);
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

  /// Returns a claim on a region within this pool's memory; null if the memory is not in the pool.
  @Nullable Holding within(MemorySegment memory) {
    lock.lock();
    try {
      Map.Entry<Long, PoolBlock> found = byAddress.floorEntry(memory.address());
      if (found == null || !found.getValue().contains(memory)) {
        return null;
      }
      PoolBlock block = found.getValue();
      wake(block);
      block.share();
      return new PooledMemory(this, block, memory);
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
      giveUp(closed ? 0 : maxIdleBytes);
    }
  }

  /// Releases idle blocks until at most `most` bytes are idle; returns the released bytes.
  private long giveUp(long most) {
    long before = idleBytes;
    while (idleBytes > most) {
      PoolBlock block = idle.remove();
      idleBytes -= block.bytes();
      byAddress.remove(block.memory().address());
      block.close();
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

  /// The pages of one region.
  private record Pages(MemoryPool pool, PoolBlock block, int page, int pages, long bytes)
      implements Holding {

    @Override
    public Registration registration() {
      return block.registration();
    }

    @Override
    public MemorySegment memory() {
      return block.memory().asSlice((long) page * PAGE, bytes);
    }

    @Override
    public boolean isOwn() {
      return true;
    }

    @Override
    public void release() {
      pool.lock.lock();
      try {
        block.give(page, pages);
        pool.released(block);
      } finally {
        pool.lock.unlock();
      }
    }
  }

  /// A region inside another region's pages.
  private record PooledMemory(MemoryPool pool, PoolBlock block, MemorySegment memory)
      implements Holding {

    @Override
    public boolean isOwn() {
      // The other region decides when its pages are reused.
      return false;
    }

    @Override
    public Registration registration() {
      return block.registration();
    }

    @Override
    public void release() {
      pool.lock.lock();
      try {
        block.unshare();
        pool.released(block);
      } finally {
        pool.lock.unlock();
      }
    }
  }
}
