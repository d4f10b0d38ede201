// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import io.weft.transport.Slice;
import io.weft.transport.Transport;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A pool that leases pieces of registered blocks. A block has 16 MiB, more for one large lease, or
/// less near the bound. The pool releases an idle block when the bound would prevent allocating
/// another. The lock guards a few array accesses; only a new block takes longer.
final class BuddyPool implements BufferPool {

  private static final long BLOCK_BYTES = 16L << 20;
  private static final int NAMED_LEASES = 5;

  private final Transport transport;
  private final long maxBytes;
  private final boolean trace;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<BuddyBlock> blocks = new ArrayList<>();
  private final Set<Lease> traced = new HashSet<>();
  private long allocated;
  private int out;
  private long outBytes;
  private boolean closed;

  BuddyPool(Transport transport, long maxBytes, boolean trace) {
    if (maxBytes < BuddyBlock.PAGE_BYTES) {
      throw new IllegalArgumentException(
          "a pool of " + maxBytes + " bytes; the smallest has " + BuddyBlock.PAGE_BYTES);
    }
    this.transport = transport;
    this.maxBytes = maxBytes;
    this.trace = trace;
  }

  @Override
  public Optional<SliceLease> tryLease(long bytes) {
    if (bytes < 0 || bytes > maxBytes) {
      throw new IllegalArgumentException(
          "a lease of " + bytes + " bytes from a pool of " + maxBytes + "; make the pool larger");
    }
    int order = order(bytes);
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the pool is closed");
      }
      for (BuddyBlock block : blocks) {
        int page = block.take(order);
        if (page >= 0) {
          return Optional.of(lease(block, page, order, bytes));
        }
      }
      BuddyBlock block = grow(order, bytes);
      return block == null
          ? Optional.empty()
          : Optional.of(lease(block, block.take(order), order, bytes));
    } finally {
      lock.unlock();
    }
  }

  /// Returns the binary logarithm of the pages that `bytes` need, rounded up.
  private static int order(long bytes) {
    long pages = Math.max(1, (bytes + BuddyBlock.PAGE_BYTES - 1) / BuddyBlock.PAGE_BYTES);
    return Long.SIZE - Long.numberOfLeadingZeros(pages - 1);
  }

  private @Nullable BuddyBlock grow(int order, long bytes) {
    int usual = order(BLOCK_BYTES);
    int blockOrder = Math.max(order, usual);
    while (blockOrder > order && blockBytes(blockOrder) > maxBytes) {
      blockOrder--;
    }
    long size = blockBytes(blockOrder);
    if (size > maxBytes) {
      throw new IllegalArgumentException(
          "a lease of "
              + bytes
              + " bytes takes "
              + size
              + ", the pool has "
              + maxBytes
              + "; make it a power of two");
    }
    for (int i = blocks.size() - 1; i >= 0 && allocated + size > maxBytes; i--) {
      if (blocks.get(i).isIdle()) {
        BuddyBlock idle = blocks.remove(i);
        allocated -= idle.bytes();
        idle.region().close();
      }
    }
    while (blockOrder > order && allocated + blockBytes(blockOrder) > maxBytes) {
      blockOrder--;
    }
    size = blockBytes(blockOrder);
    if (allocated + size > maxBytes) {
      return null;
    }
    BuddyBlock block = new BuddyBlock(transport.allocate(size), blockOrder + 1);
    allocated += size;
    blocks.add(block);
    return block;
  }

  private static long blockBytes(int order) {
    return (long) BuddyBlock.PAGE_BYTES << order;
  }

  private Lease lease(BuddyBlock block, int page, int order, long bytes) {
    Lease lease = new Lease(this, block, page, order, bytes);
    out++;
    outBytes += bytes;
    if (trace) {
      traced.add(lease);
    }
    return lease;
  }

  private void giveBack(Lease lease) {
    lock.lock();
    try {
      if (lease.returned) {
        throw new IllegalStateException(
            "the lease of " + lease.slice.bytes() + " bytes is closed twice");
      }
      lease.returned = true;
      lease.block.give(lease.page, lease.order);
      out--;
      outBytes -= lease.slice.bytes();
      traced.remove(lease);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (out > 0) {
        IllegalStateException leak =
            new IllegalStateException(
                out
                    + " leases with a total of "
                    + outBytes
                    + " bytes are not returned; close them first"
                    + (trace ? "" : " (-Dweft.pool.trace=true shows where they were taken)"));
        traced.stream()
            .limit(NAMED_LEASES)
            .map(Lease::taken)
            .forEach(taken -> leak.addSuppressed(taken));
        throw leak;
      }
      closed = true;
      blocks.forEach(block -> block.region().close());
      blocks.clear();
      allocated = 0;
    } finally {
      lock.unlock();
    }
  }

  /// One leased piece.
  private static final class Lease implements SliceLease {

    private final BuddyPool pool;
    private final BuddyBlock block;
    private final int page;
    private final int order;
    private final Slice slice;
    private final @Nullable Throwable taken;
    private boolean returned;

    Lease(BuddyPool pool, BuddyBlock block, int page, int order, long bytes) {
      this.pool = pool;
      this.block = block;
      this.page = page;
      this.order = order;
      this.slice = block.region().slice((long) page * BuddyBlock.PAGE_BYTES, bytes);
      this.taken = pool.trace ? new Throwable("leased here") : null;
    }

    @Override
    public Slice slice() {
      return slice;
    }

    Throwable taken() {
      return taken == null ? new Throwable("not traced") : taken;
    }

    @Override
    public void close() {
      pool.giveBack(this);
    }
  }
}
