// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.MemoryRegion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.verbs.device.ProtectionDomain;
import io.weft.verbs.device.Registration;
import io.weft.verbs.device.VerbsException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The regions of a transport with the memory that devices may access. The local device may access
/// all of it, the devices of peers only the transport's own memory (`allocate`). Thread-safe.
public final class Pins {

  private static final System.Logger LOG = System.getLogger("io.weft.verbs");

  private static final int PLACES = 1 << 16;

  private final RegionTable table;
  private final int copiedBytes;
  private final Registry registry;
  private final MemoryPool pool;
  private final RegistrationCache cache;
  private final AtomicReferenceArray<@Nullable Pin> pins = new AtomicReferenceArray<>(PLACES);
  private final AtomicLong refused = new AtomicLong();
  // At most one entry for each region of the transport.
  private final ConcurrentLinkedQueue<Pin> withdrawn = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<PoolBlock> added = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<PoolBlock> discarded = new ConcurrentLinkedQueue<>();

  /// The registration of memory with a device.
  public interface Registry {
    /// Registers memory with the device. Throws `VerbsException`.
    Registration register(MemorySegment memory, Registration.Access access);

    /// Returns the total cost of registrations.
    Registration.RegistrationCounts counts();
  }

  /// Creates an empty set whose memory is registered with this domain.
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

  /// Creates an empty set.
  public Pins(RegionTable table, Registry registry, MemorySettings settings) {
    this.table = table;
    this.registry = registry;
    copiedBytes = settings.copiedBytes();
    ReentrantLock lock = new ReentrantLock();
    pool =
        new MemoryPool(
            memory -> pin(memory, Registration.Access.REMOTE),
            lock,
            settings,
            new MemoryPool.Blocks(added::add, discarded::add));
    cache =
        new RegistrationCache(
            memory -> pin(memory, Registration.Access.LOCAL), lock, settings.cacheBytes());
  }

  /// Returns the table that finds regions by key.
  public RegionTable table() {
    return table;
  }

  /// Returns the payload up to which copying into the ring is cheaper than a separate work request.
  /// Foreign memory of at most this length is not pinned.
  public int copiedBytes() {
    return copiedBytes;
  }

  /// Implements `Transport.allocate`.
  public MemoryRegion allocate(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a region of " + bytes + " bytes");
    }
    Holding holding = held(() -> pool.allocate(bytes));
    return holding == null
        ? table.allocate(bytes)
        : enter(holding.memory(), new Pin(this, holding, null));
  }

  /// Implements `Transport.register`.
  public MemoryRegion register(MemorySegment segment, Object owner) {
    table.check(segment);
    if (segment.byteSize() <= copiedBytes) {
      return table.register(segment, owner);
    }
    Holding pooled = pool.within(segment);
    Holding holding = pooled != null ? pooled : held(() -> cache.register(segment));
    return holding == null
        ? table.register(segment, owner)
        : enter(segment, new Pin(this, holding, owner));
  }

  /// Implements `Transport.isForeign`.
  public boolean isForeign(MemorySegment segment) {
    return segment.byteSize() > copiedBytes && !pool.contains(segment);
  }

  /// Returns a claim on registered memory. Returns null if the system permits no more of it: the
  /// memory then stays unregistered, and its bytes are copied.
  private @Nullable Holding held(Supplier<Holding> take) {
    try {
      return take.get();
    } catch (VerbsException e) {
      if (!e.isLimit()) {
        throw new TransportException.Registration(String.valueOf(e.getMessage()), e);
      }
      if (refused.getAndIncrement() == 0) {
        LOG.log(
            Level.WARNING,
            "payloads are copied instead of moved by the RDMA device: {0}",
            e.getMessage());
      }
      return null;
    }
  }

  private MemoryRegion enter(MemorySegment segment, Pin pin) {
    LocalRegion region;
    try {
      region = table.register(segment, pin);
    } catch (RuntimeException e) {
      pin.released();
      throw e;
    }
    int key = region.key();
    pin.entered(key);
    pins.set(place(key), pin);
    return region;
  }

  /// Registers memory; if the system's limit is reached, it releases idle registrations and
  /// retries.
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

  /// Returns the pin through which the device can access an open local region; null if bytes must
  /// be copied.
  ///
  /// Hot path.
  public @Nullable Pin of(LocalRegion region) {
    return pins.get(place(region.key()));
  }

  void forget(Pin pin) {
    // Another region may already occupy the entry.
    pins.compareAndSet(place(pin.key()), pin, null);
  }

  /// Queues a closed region whose memory peers may still access.
  void withdraw(Pin pin) {
    withdrawn.add(pin);
  }

  /// Returns the next closed region whose memory peers may still access, each only once; null if
  /// none is left.
  public @Nullable Pin nextWithdrawn() {
    return withdrawn.poll();
  }

  /// Returns the next new block, each only once; null if none is left.
  public @Nullable PoolBlock nextAdded() {
    return added.poll();
  }

  /// Returns the blocks of the pool.
  public List<PoolBlock> blocks() {
    return pool.blocks();
  }

  /// Returns the next discarded block whose memory peers may still access, each only once; null if
  /// none is left.
  public @Nullable PoolBlock nextDiscarded() {
    return discarded.poll();
  }

  /// Returns the index of a key in the table, below 65,536.
  ///
  /// Hot path.
  public static int place(int key) {
    return key & (PLACES - 1);
  }

  /// Returns the total cost of registrations, including the rings of endpoints.
  public Registration.RegistrationCounts counts() {
    return registry.counts();
  }

  /// Returns the count of regions whose memory could not be registered.
  public long refused() {
    return refused.get();
  }

  /// Returns the count of registrations of foreign memory that the cache served.
  public long hits() {
    return cache.hits();
  }

  /// Releases idle memory when the transport closes, and the rest when its regions are closed.
  public void close() {
    long unused = cache.reclaim();
    pool.close();
  }
}
