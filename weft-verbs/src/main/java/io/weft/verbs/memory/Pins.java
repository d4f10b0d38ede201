// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.MemoryRegion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.verbs.device.ProtectionDomain;
import io.weft.verbs.device.Registration;
import io.weft.verbs.device.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The regions of a transport, and the memory of them that the device may fetch payload from. Peers
/// get no permission for it. Any thread.
public final class Pins {

  /// Payload up to which a copy into the ring is cheaper than a work request of its own; shorter
  /// regions of foreign memory are not pinned.
  public static final int COPIED_BYTES = 4096;

  private static final int INDEXES = 1 << 16;

  private final RegionTable table;
  private final ProtectionDomain domain;
  private final MemoryPool pool;
  private final RegistrationCache cache;
  private final AtomicReferenceArray<@Nullable Pin> pins = new AtomicReferenceArray<>(INDEXES);

  /// No regions yet.
  public Pins(RegionTable table, ProtectionDomain domain, MemorySettings settings) {
    this.table = table;
    this.domain = domain;
    ReentrantLock lock = new ReentrantLock();
    pool = new MemoryPool(this::pin, lock, settings.poolBytes());
    cache = new RegistrationCache(this::pin, lock, settings.cacheBytes());
  }

  /// Where the regions are found by key.
  public RegionTable table() {
    return table;
  }

  /// See `Transport.allocate`.
  public MemoryRegion allocate(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a region of " + bytes + " bytes");
    }
    Holding holding = held(() -> pool.allocate(bytes));
    return enter(holding.memory(), new Pin(this, holding, null));
  }

  /// See `Transport.register`.
  public MemoryRegion register(MemorySegment segment, Object owner) {
    table.check(segment);
    if (segment.byteSize() <= COPIED_BYTES) {
      return table.register(segment, owner);
    }
    Holding pooled = pool.within(segment);
    Holding holding = pooled != null ? pooled : held(() -> cache.register(segment));
    return enter(segment, new Pin(this, holding, owner));
  }

  private static Holding held(Supplier<Holding> take) {
    try {
      return take.get();
    } catch (VerbsException e) {
      throw new TransportException.Registration(String.valueOf(e.getMessage()), e);
    }
  }

  private MemoryRegion enter(MemorySegment segment, Pin pin) {
    MemoryRegion region;
    try {
      region = table.register(segment, pin);
    } catch (RuntimeException e) {
      pin.withdrawn();
      throw e;
    }
    int index = index(region.export().key());
    pin.at(index);
    pins.set(index, pin);
    return region;
  }

  /// Registers for local access; what is registered and not used goes where the system allows no
  /// more.
  private Registration pin(MemorySegment memory) {
    try {
      return domain.register(memory, Registration.Access.LOCAL);
    } catch (VerbsException e) {
      if (cache.reclaim() + pool.reclaim() == 0) {
        throw e;
      }
      return domain.register(memory, Registration.Access.LOCAL);
    }
  }

  /// Where the device may fetch the bytes of an open region of ours itself; null if they are to be
  /// copied.
  ///
  /// Hot path.
  public @Nullable Pin of(LocalRegion region) {
    return pins.get(index(region.key()));
  }

  void forget(int index, Pin pin) {
    // Another region may have the index already.
    pins.compareAndSet(index, pin, null);
  }

  private static int index(int key) {
    return key & (INDEXES - 1);
  }

  /// What registering has cost so far, the rings of endpoints included.
  public Registration.Counts counts() {
    return domain.counts();
  }

  /// How often memory of others was registered already.
  public long hits() {
    return cache.hits();
  }

  /// The transport is closed: gives up what no region has, and the rest when its region is closed.
  public void close() {
    long unused = cache.reclaim();
    pool.close();
  }
}
