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

/// The registered regions of one transport, found by key in one step. A key is a slab index (low 16
/// bits) and that slot's generation (high 16 bits, never 0), so a key from before a `close` finds
/// nothing. Slots are reused oldest first, and only once 4,096 of them exist, so that a generation
/// returns after 2^28 registrations at the earliest. Any thread.
public final class RegionTable {

  private static final int CAPACITY = 1 << 16;
  private static final int REUSE_FROM = 4096;
  private static final int PAGE = 4096;

  private final long incarnation;
  private final String device;
  private final ArrayDeque<Integer> free = new ArrayDeque<>();

  /// Never started: asks whether memory is open to threads other than the registering one.
  private static final Thread SOME_THREAD = Thread.ofPlatform().unstarted(() -> {});

  // Begin and end of each block that `allocate` gave; replaced under the lock, read without it.
  private volatile long[] blocks = {};
  private char[] generations = new char[64];
  private volatile AtomicReferenceArray<@Nullable LocalRegion> slots =
      new AtomicReferenceArray<>(64);
  private int used;

  /// The table of a device with this name; draws an incarnation.
  public RegionTable(String device) {
    this.device = device;
    this.incarnation = new SecureRandom().nextLong();
  }

  /// Tells this opening of the transport from every other one.
  public long incarnation() {
    return incarnation;
  }

  /// See `Transport.allocate`.
  public MemoryRegion allocate(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a region of " + bytes + " bytes");
    }
    Arena arena = Arena.ofShared();
    try {
      MemorySegment block = arena.allocate(bytes, PAGE);
      enter(block);
      return add(block, arena, true, null);
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

  /// See `Transport.register`. An owner that is a `RegionOwner` is asked what of the region peers
  /// see, and told of its end.
  public MemoryRegion register(MemorySegment segment, Object owner) {
    check(segment);
    return add(segment, null, isInOwnMemory(segment), owner);
  }

  /// Throws `TransportException.Registration` for memory that cannot be registered: it is not
  /// native, gone, or one thread's. What is read-only is no target of writes and reads.
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

  /// The open region with this key, or null.
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

  /// Whether a region with this key was open here and is closed: a peer that writes to it is late,
  /// not wrong.
  public synchronized boolean wasOpen(int key) {
    int index = key & (CAPACITY - 1);
    char generation = (char) (key >>> 16);
    return index < generations.length
        && generation != 0
        && generation <= generations[index]
        && find(key) == null;
  }

  /// The region of a slice that is to be posted. Throws `IllegalArgumentException` if it is not one
  /// of this transport.
  ///
  /// Hot path.
  public LocalRegion own(Slice slice) {
    if (slice.region() instanceof LocalRegion region && region.belongsTo(this)) {
      return region;
    }
    throw new IllegalArgumentException(
        slice.region() + " is not registered with " + device + "; register it there");
  }

  /// The same for a slice that is to be read into. Throws `IllegalArgumentException` if it is
  /// read-only, too.
  ///
  /// Hot path.
  public LocalRegion ownTarget(Slice slice) {
    LocalRegion region = own(slice);
    if (region.segment().isReadOnly()) {
      throw new IllegalArgumentException(region + " is read-only; nothing can be read into it");
    }
    return region;
  }

  private synchronized LocalRegion add(
      MemorySegment segment, @Nullable Arena arena, boolean inOwnMemory, @Nullable Object owner) {
    int index;
    if (!free.isEmpty() && used >= REUSE_FROM) {
      index = free.remove();
    } else if (used < CAPACITY) {
      index = used++;
    } else {
      throw new TransportException.Registration(
          "register "
              + segment.byteSize()
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
    LocalRegion region =
        new LocalRegion(this, segment, generations[index] << 16 | index, arena, inOwnMemory, owner);
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

  /// `block`: whether its memory came from `allocate` and ends with it.
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
