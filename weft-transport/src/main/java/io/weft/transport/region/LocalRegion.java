// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A registered region of native memory. It counts two kinds of claims: *posted work* of this side,
/// which forbids `close`, and *visitors* (one system call or copy on behalf of a peer), which
/// `close` waits for. Nothing therefore accesses the memory after `close` has returned. Peers in
/// this JVM use it as their `PeerMemory`. Thread-safe.
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
  // The closed bit, posted work (31 bits) and visitors (32 bits).
  private final AtomicLong claims = new AtomicLong();
  private @Nullable Object owner;

  /// The memory of a region.
  ///
  /// @param arena that the region closes; null = the memory is another owner's
  /// @param inOwnMemory true if the memory is a part of the transport's
  record Memory(MemorySegment segment, @Nullable Arena arena, boolean inOwnMemory) {}

  LocalRegion(RegionTable table, int key, Memory memory, @Nullable Object owner) {
    this.table = table;
    this.segment = memory.segment();
    this.key = key;
    this.arena = memory.arena();
    this.inOwnMemory = memory.inOwnMemory();
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
    long address = regionOwner == null ? 0 : regionOwner.exportedAddress();
    return new RemoteRegion(address, segment.byteSize(), key, table.incarnation());
  }

  /// Returns the key, which consists of a slot index and the slot's generation.
  public int key() {
    return key;
  }

  /// Returns whether this region was registered with `other`.
  public boolean belongsTo(RegionTable other) {
    return table == other;
  }

  /// Returns the byte buffers over this memory for socket calls. Polling thread only.
  public RegionViews views() {
    return views;
  }

  /// Counts one more posted operation. Throws `IllegalStateException` if the region is closed.
  ///
  /// Hot path.
  public void post() {
    if (claims.getAndAdd(POSTED_ONE) < 0) {
      claims.getAndAdd(-POSTED_ONE);
      throw new IllegalStateException(this + " is closed; post only slices of open regions");
    }
  }

  /// Counts one posted operation as completed.
  ///
  /// Hot path.
  public void settle() {
    claims.getAndAdd(-POSTED_ONE);
  }

  @Override
  public boolean isMappable() {
    return regionOwner == null ? inOwnMemory : regionOwner.isMappable();
  }

  /// Claims the memory for one short access; returns false if the region is closed. The caller must
  /// call `leave` before any callback.
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

  /// Returns whether the range that a peer claims lies inside.
  ///
  /// Hot path.
  public boolean contains(long offset, long bytes) {
    long size = segment.byteSize();
    return offset >= 0 && bytes >= 0 && bytes <= size && offset <= size - bytes;
  }

  /// Returns whether a peer may write the range: it lies inside, and the memory is not read-only.
  ///
  /// Hot path.
  public boolean takes(long offset, long bytes) {
    return contains(offset, bytes) && !segment.isReadOnly();
  }

  @Override
  public void close() {
    if (end()) {
      if (regionOwner != null) {
        regionOwner.withdrawn();
      }
      freeArena();
    }
  }

  @Override
  public void release() {
    if (end()) {
      if (regionOwner != null) {
        regionOwner.released();
      }
      freeArena();
    }
  }

  private void freeArena() {
    if (arena != null) {
      arena.close();
    }
  }

  /// Ends the region. Returns false if it had ended before.
  private boolean end() {
    while (true) {
      long seen = claims.get();
      if (seen < 0) {
        return false;
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
    // A visitor is one copy or one non-blocking system call of bounded length, so that the loop
    // ends.
    while (isInUse()) {
      Thread.onSpinWait();
    }
    owner = null;
    return true;
  }

  /// Returns the owner of the memory, which is kept reachable until the region is closed.
  @Nullable Object owner() {
    return owner;
  }

  @Override
  public String toString() {
    return "region " + Integer.toHexString(key) + " of " + segment.byteSize() + " bytes";
  }
}
