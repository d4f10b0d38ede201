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
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The regions of a transport, and the memory of them that devices may access: ours all of it,
/// those of peers only memory of the transport. Any thread.
public final class Pins {

  /// Payload up to which a copy into the ring is cheaper than a work request of its own; shorter
  /// regions of foreign memory are not pinned.
  public static final int COPIED_BYTES = 4096;

  private static final int PLACES = 1 << 16;

  private final RegionTable table;
  private final Registry registry;
  private final MemoryPool pool;
  private final RegistrationCache cache;
  private final AtomicReferenceArray<@Nullable Pin> pins = new AtomicReferenceArray<>(PLACES);
  // As many as regions of the transport at most.
  private final ConcurrentLinkedQueue<Pin> withdrawn = new ConcurrentLinkedQueue<>();

  /// Who registers memory.
  public interface Registry {
    /// With the device. Throws `VerbsException`.
    Registration register(MemorySegment memory, Registration.Access access);

    /// What that has cost so far.
    Registration.RegistrationCounts counts();
  }

  /// No regions yet; their memory is registered with this domain.
  public Pins(RegionTable table, ProtectionDomain domain, MemorySettings settings) {
    this(table, new OfDomain(domain), settings);
  }

  private record OfDomain(ProtectionDomain domain) implements Registry {

    @Override
    public Registration register(MemorySegment memory, Registration.Access access) {
      return domain.register(memory, access);
    }

    @Override
    public Registration.RegistrationCounts counts() {
      return domain.counts();
    }
  }

  /// No regions yet.
  public Pins(RegionTable table, Registry registry, MemorySettings settings) {
    this.table = table;
    this.registry = registry;
    ReentrantLock lock = new ReentrantLock();
    pool =
        new MemoryPool(
            memory -> pin(memory, Registration.Access.REMOTE), lock, settings.poolBytes());
    cache =
        new RegistrationCache(
            memory -> pin(memory, Registration.Access.LOCAL), lock, settings.cacheBytes());
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
    int key = region.export().key();
    pin.entered(key);
    pins.set(place(key), pin);
    return region;
  }

  /// Registers; what is registered and not used goes where the system allows no more.
  private Registration pin(MemorySegment memory, Registration.Access access) {
    try {
      return registry.register(memory, access);
    } catch (VerbsException e) {
      if (cache.reclaim() + pool.reclaim() == 0) {
        throw e;
      }
      return registry.register(memory, access);
    }
  }

  /// Where the device may fetch the bytes of an open region of ours itself; null if they are to be
  /// copied.
  ///
  /// Hot path.
  public @Nullable Pin of(LocalRegion region) {
    return pins.get(place(region.key()));
  }

  void forget(Pin pin) {
    // Another region may have the place already.
    pins.compareAndSet(place(pin.key()), pin, null);
  }

  /// Its region is closed, and peers may still touch its memory.
  void withdraw(Pin pin) {
    withdrawn.add(pin);
  }

  /// A closed region whose memory peers may still touch, told once; null if there is none.
  public @Nullable Pin nextWithdrawn() {
    return withdrawn.poll();
  }

  /// Place of a key in the table, below 65,536.
  ///
  /// Hot path.
  public static int place(int key) {
    return key & (PLACES - 1);
  }

  /// What registering has cost so far, the rings of endpoints included.
  public Registration.RegistrationCounts counts() {
    return registry.counts();
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
