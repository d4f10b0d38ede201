// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.MemoryRegion;
import io.weft.transport.TransportException;
import io.weft.transport.region.Landlord;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.verbs.device.ProtectionDomain;
import io.weft.verbs.device.Registration;
import io.weft.verbs.device.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// The regions of this transport, and the memory of them that the device may fetch payload from.
/// Peers get no permission for it. Any thread.
final class Pins {

  /// Payload up to which a copy into the ring is cheaper than a work request of its own; shorter
  /// regions are not pinned.
  static final int COPIED_BYTES = 4096;

  private static final int INDEXES = 1 << 16;
  private static final int PAGE = 4096;

  private final RegionTable table;
  private final ProtectionDomain domain;
  private final AtomicReferenceArray<@Nullable Pin> pins = new AtomicReferenceArray<>(INDEXES);
  private final AtomicLong registrations = new AtomicLong();

  Pins(RegionTable table, ProtectionDomain domain) {
    this.table = table;
    this.domain = domain;
  }

  RegionTable table() {
    return table;
  }

  /// How often memory was registered with the device.
  long registrations() {
    return registrations.get();
  }

  MemoryRegion allocate(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a region of " + bytes + " bytes");
    }
    Arena arena = Arena.ofShared();
    try {
      return enter(arena.allocate(bytes, PAGE), arena, arena);
    } catch (OutOfMemoryError e) {
      arena.close();
      throw new TransportException.Registration(
          "allocate "
              + bytes
              + " bytes for verbs failed: "
              + e.getMessage()
              + "; the limit is -XX:MaxDirectMemorySize (by default the heap's -Xmx)",
          e);
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  MemoryRegion register(MemorySegment segment, Object owner) {
    return enter(segment, null, owner);
  }

  private MemoryRegion enter(MemorySegment segment, @Nullable Arena arena, Object owner) {
    Pin pin = new Pin(arena, owner);
    // Checks the memory, so it comes first.
    MemoryRegion region = table.register(segment, pin);
    if (segment.byteSize() > COPIED_BYTES) {
      try {
        pin.registration = domain.register(segment, Registration.Access.LOCAL);
        registrations.getAndIncrement();
      } catch (VerbsException e) {
        pin.arena = null;
        region.close();
        throw new TransportException.Registration(String.valueOf(e.getMessage()), e);
      }
    }
    pin.index = index(region.export().key());
    pins.set(pin.index, pin);
    return region;
  }

  /// Where the device may fetch the bytes of an open region of ours itself; null if they are to be
  /// copied.
  ///
  /// Hot path.
  @Nullable Registration of(LocalRegion region) {
    Pin pin = pins.get(index(region.key()));
    return pin == null ? null : pin.registration;
  }

  private static int index(int key) {
    return key & (INDEXES - 1);
  }

  /// One region's claim on the device, and on the memory if it is ours.
  private final class Pin implements Landlord {
    private @Nullable Arena arena;
    private @Nullable Object owner;
    private volatile @Nullable Registration registration;
    private int index = -1;

    Pin(@Nullable Arena arena, Object owner) {
      this.arena = arena;
      this.owner = owner;
    }

    @Override
    public void withdrawn() {
      if (index >= 0) {
        // Another region may have the index already.
        pins.compareAndSet(index, this, null);
      }
      Registration pinned = registration;
      if (pinned != null) {
        pinned.close();
      }
      owner = null;
      Arena own = arena;
      if (own != null) {
        own.close();
      }
    }

    @Override
    public boolean isMappable() {
      return false;
    }

    @Override
    public boolean isVisited() {
      return false;
    }

    @Override
    public String toString() {
      return "pin of " + owner;
    }
  }
}
