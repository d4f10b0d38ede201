// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A registered piece of native memory. It counts two kinds of claims: *posted work* of ours, which
/// forbids `close`, and *visitors* (one system call or copy on behalf of a peer), which `close`
/// waits for, so that nobody touches the memory after `close` has returned. As `PeerMemory` it is
/// what a peer in this JVM gets of it. Any thread.
public final class LocalRegion implements MemoryRegion, PeerMemory {

  private static final long CLOSED = 1L << 63;
  private static final long POSTED_ONE = 1L << 32;
  private static final long VISITORS = POSTED_ONE - 1;

  private final RegionTable table;
  private final MemorySegment segment;
  private final int key;
  private final @Nullable Arena arena;
  private final RegionViews views;
  private final boolean inOwnMemory;
  private final @Nullable RegionOwner regionOwner;
  // closed bit, posted work (31 bits), visitors (32 bits)
  private final AtomicLong claims = new AtomicLong();
  private @Nullable Object owner;

  LocalRegion(
      RegionTable table,
      MemorySegment segment,
      int key,
      @Nullable Arena arena,
      boolean inOwnMemory,
      @Nullable Object owner) {
    this.table = table;
    this.segment = segment;
    this.key = key;
    this.arena = arena;
    this.inOwnMemory = inOwnMemory;
    this.owner = owner;
    this.views = new RegionViews(segment);
    this.regionOwner = owner instanceof RegionOwner some ? some : null;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public RemoteRegion export() {
    return new RemoteRegion(0, segment.byteSize(), key, table.incarnation());
  }

  /// Slab index and generation.
  public int key() {
    return key;
  }

  /// Whether this region was registered with `other`.
  public boolean belongsTo(RegionTable other) {
    return table == other;
  }

  /// Buffers over this memory for socket calls. Polling thread only.
  public RegionViews views() {
    return views;
  }

  /// Counts one more piece of posted work. Throws `IllegalStateException` if the region is closed.
  ///
  /// Hot path.
  public void post() {
    if (claims.getAndAdd(POSTED_ONE) < 0) {
      claims.getAndAdd(-POSTED_ONE);
      throw new IllegalStateException(this + " is closed; post only slices of open regions");
    }
  }

  /// One piece of posted work is done.
  ///
  /// Hot path.
  public void settle() {
    claims.getAndAdd(-POSTED_ONE);
  }

  @Override
  public boolean isMappable() {
    return regionOwner == null ? inOwnMemory : regionOwner.isMappable();
  }

  /// Claims the memory for one short access; false if the region is closed. Followed by `leave`
  /// before any callback.
  ///
  /// Hot path.
  @Override
  public boolean visit() {
    if (claims.getAndIncrement() < 0) {
      claims.getAndDecrement();
      return false;
    }
    return true;
  }

  /// Ends a `visit`.
  ///
  /// Hot path.
  @Override
  public void leave() {
    claims.getAndDecrement();
  }

  @Override
  public boolean isVisited() {
    return isInUse() || (regionOwner != null && regionOwner.isVisited());
  }

  private boolean isInUse() {
    return (claims.get() & VISITORS) != 0;
  }

  /// Whether `offset` and `bytes`, which a peer claims, lie inside.
  ///
  /// Hot path.
  public boolean contains(long offset, long bytes) {
    long size = segment.byteSize();
    return offset >= 0 && bytes >= 0 && bytes <= size && offset <= size - bytes;
  }

  /// Whether a peer may write there: they lie inside, and it is not read-only.
  ///
  /// Hot path.
  public boolean takes(long offset, long bytes) {
    return contains(offset, bytes) && !segment.isReadOnly();
  }

  @Override
  public void close() {
    while (true) {
      long seen = claims.get();
      if (seen < 0) {
        return;
      }
      long posted = seen >>> 32;
      if (posted > 0) {
        throw new IllegalStateException(
            this + " still has " + posted + " posted operations; close it when they are done");
      }
      if (claims.compareAndSet(seen, seen | CLOSED)) {
        break;
      }
    }
    table.remove(this, arena != null);
    // A visitor is one copy or one non-blocking system call of a bounded length: it ends by itself.
    while (isInUse()) {
      Thread.onSpinWait();
    }
    owner = null;
    if (regionOwner != null) {
      regionOwner.withdrawn();
    }
    if (arena != null) {
      arena.close();
    }
  }

  /// What the memory belongs to; kept reachable until the region is closed.
  @Nullable Object owner() {
    return owner;
  }

  @Override
  public String toString() {
    return "region " + Integer.toHexString(key) + " of " + segment.byteSize() + " bytes";
  }
}
