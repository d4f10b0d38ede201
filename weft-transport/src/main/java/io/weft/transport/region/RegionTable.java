// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

import io.weft.transport.MemoryRegion;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// The registered regions of one transport, indexed by key. A key consists of a slot index (low 16
/// bits) and the slot's generation (high 16 bits, never 0), so that a key from before a `close`
/// finds nothing. Slots are reused oldest first, and only once 4,096 of them exist, so that a
/// generation returns after 2^28 registrations at the earliest. Thread-safe.
public final class RegionTable {

  private static final int CAPACITY = 1 << 16;
  private static final int REUSE_FROM = 4096;
  private static final int PAGE = 4096;

  private final long incarnation;
  private final String device;
  private final ArrayDeque<Integer> free = new ArrayDeque<>();

  /// A thread that is never started, for testing whether other threads may access memory.
  private static final Thread SOME_THREAD = Thread.ofPlatform().unstarted(() -> {});

  // The begin and end of each block that `allocate` returned; replaced under the lock, read without
  // it.
  private volatile long[] blocks = {};
  private char[] generations = new char[64];
  private volatile AtomicReferenceArray<@Nullable LocalRegion> slots =
      new AtomicReferenceArray<>(64);
  private int used;

  /// Creates the table of a device with this name and draws an incarnation.
  public RegionTable(String device) {
    this.device = device;
    this.incarnation = new SecureRandom().nextLong();
  }

  /// Returns the number that distinguishes this opening of the transport from all others.
  public long incarnation() {
    return incarnation;
  }

  /// Implements `Transport.allocate`.
  public MemoryRegion allocate(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a region of " + bytes + " bytes");
    }
    Arena arena = Arena.ofShared();
    try {
      MemorySegment block = arena.allocate(bytes, PAGE);
      enter(block);
      return add(new LocalRegion.Memory(block, arena, true), null);
    } catch (OutOfMemoryError e) {
      arena.close();
      throw new TransportException.Registration(
          "allocate "
              + bytes
              + " bytes on "
              + device
              + " failed: "
              + e.getMessage()
              + "; the limit is -XX:MaxDirectMemorySize (by default the heap's -Xmx)",
          e);
    }
  }

  /// Implements `Transport.register`. An owner that is a `RegionOwner` decides if peers may map the
  /// region, and is notified when the region closes.
  public LocalRegion register(MemorySegment segment, Object owner) {
    check(segment);
    return add(new LocalRegion.Memory(segment, null, isInOwnMemory(segment)), owner);
  }

  /// Throws `TransportException.Registration` for memory that cannot be registered, because it is
  /// not native, is freed, or is confined to one thread. Read-only memory can be registered as a
  /// source.
  public void check(MemorySegment segment) {
    String why = null;
    if (!segment.isNative()) {
      why = "it is not native memory";
    } else if (!segment.scope().isAlive()) {
      why = "its arena is closed";
    } else if (!segment.isAccessibleBy(SOME_THREAD)) {
      why = "its arena is confined to one thread; use a shared or automatic one";
    }
    if (why != null) {
      throw new TransportException.Registration(
          "register " + segment.byteSize() + " bytes on " + device + " failed: " + why, null);
    }
  }

  /// Returns the open region with this key, or null.
  ///
  /// Hot path.
  public @Nullable LocalRegion find(int key) {
    int index = key & (CAPACITY - 1);
    AtomicReferenceArray<@Nullable LocalRegion> now = slots;
    if (index >= now.length()) {
      return null;
    }
    LocalRegion region = now.get(index);
    return region != null && region.key() == key ? region : null;
  }

  /// Returns whether a region with this key was open here and is closed. A write to it arrived late
  /// and is not a protocol fault.
  public synchronized boolean wasOpen(int key) {
    int index = key & (CAPACITY - 1);
    char generation = (char) (key >>> 16);
    return index < generations.length
        && generation != 0
        && generation <= generations[index]
        && find(key) == null;
  }

  /// Returns the region of a slice to post. Throws `IllegalArgumentException` if the region does
  /// not belong to this transport.
  ///
  /// Hot path.
  public LocalRegion own(Slice slice) {
    if (slice.region() instanceof LocalRegion region && region.belongsTo(this)) {
      return region;
    }
    throw new IllegalArgumentException(
        slice.region() + " is not registered with " + device + "; register it there");
  }

  /// Returns the region of a slice to read into. Throws `IllegalArgumentException` as `own` does,
  /// or if the region is read-only.
  ///
  /// Hot path.
  public LocalRegion ownTarget(Slice slice) {
    LocalRegion region = own(slice);
    if (region.segment().isReadOnly()) {
      throw new IllegalArgumentException(region + " is read-only; it cannot be read into");
    }
    return region;
  }

  private synchronized LocalRegion add(LocalRegion.Memory memory, @Nullable Object owner) {
    int index;
    if (!free.isEmpty() && used >= REUSE_FROM) {
      index = free.remove();
    } else if (used < CAPACITY) {
      index = used++;
    } else {
      throw new TransportException.Registration(
          "register "
              + memory.segment().byteSize()
              + " bytes on "
              + device
              + " failed: all "
              + CAPACITY
              + " regions are in use; register larger blocks and slice them",
          null);
    }
    if (index >= slots.length()) {
      grow();
    }
    generations[index]++;
    if (generations[index] == 0) {
      generations[index] = 1;
    }
    LocalRegion region = new LocalRegion(this, generations[index] << 16 | index, memory, owner);
    slots.set(index, region);
    return region;
  }

  private synchronized void enter(MemorySegment block) {
    long[] more = Arrays.copyOf(blocks, blocks.length + 2);
    more[blocks.length] = block.address();
    more[blocks.length + 1] = block.address() + block.byteSize();
    blocks = more;
  }

  private boolean isInOwnMemory(MemorySegment segment) {
    long begin = segment.address();
    long[] now = blocks;
    for (int i = 0; i < now.length; i += 2) {
      if (now[i] <= begin && begin + segment.byteSize() <= now[i + 1]) {
        return true;
      }
    }
    return false;
  }

  private void leave(long begin) {
    for (int i = 0; i < blocks.length; i += 2) {
      if (blocks[i] == begin) {
        long[] fewer = Arrays.copyOf(blocks, blocks.length - 2);
        System.arraycopy(blocks, i + 2, fewer, i, fewer.length - i);
        blocks = fewer;
        return;
      }
    }
  }

  /// Removes a region. `block` is true if `allocate` allocated its memory, which is freed with it.
  synchronized void remove(LocalRegion region, boolean block) {
    if (block) {
      leave(region.segment().address());
    }
    int index = region.key() & (CAPACITY - 1);
    slots.set(index, null);
    free.add(index);
  }

  private void grow() {
    AtomicReferenceArray<@Nullable LocalRegion> wider =
        new AtomicReferenceArray<>(slots.length() * 2);
    for (int i = 0; i < slots.length(); i++) {
      wider.set(i, slots.get(i));
    }
    generations = Arrays.copyOf(generations, wider.length());
    slots = wider;
  }
}
