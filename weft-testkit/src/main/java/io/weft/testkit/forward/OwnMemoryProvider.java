// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.forward;

import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/// A transport that can transfer directly only memory of `Transport.allocate`, as an RDMA device
/// does: all other memory of more than 4,096 bytes is foreign to it. It counts how often memory is
/// allocated and foreign memory is registered, over all ranks.
public final class OwnMemoryProvider implements TransportProvider {

  private static final int COPIED_BYTES = 4096;

  private final TransportProvider real;
  private final AtomicLong allocations = new AtomicLong();
  private final AtomicLong foreignRegistrations = new AtomicLong();

  /// Creates a provider whose transports use those of `real`.
  public OwnMemoryProvider(TransportProvider real) {
    this.real = Objects.requireNonNull(real, "real");
  }

  /// Returns the count of allocations.
  public long allocations() {
    return allocations.get();
  }

  /// Returns the count of registrations of foreign memory.
  public long foreignRegistrations() {
    return foreignRegistrations.get();
  }

  @Override
  public String scheme() {
    return real.scheme();
  }

  @Override
  public Availability probe() {
    return real.probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    Objects.requireNonNull(config, "config");
    Objects.requireNonNull(sink, "sink");
    return new Own(real.open(config, sink));
  }

  private final class Own extends ForwardingTransport {

    private final Queue<MemorySegment> allocated = new ConcurrentLinkedQueue<>();

    private Own(Transport real) {
      super(real);
    }

    @Override
    public MemoryRegion allocate(long bytes) {
      MemoryRegion region = super.allocate(bytes);
      allocations.incrementAndGet();
      allocated.add(region.segment());
      return region;
    }

    @Override
    public MemoryRegion register(MemorySegment segment, Object owner) {
      if (isForeign(segment)) {
        foreignRegistrations.incrementAndGet();
      }
      return super.register(segment, owner);
    }

    @Override
    public boolean isForeign(MemorySegment segment) {
      return segment.byteSize() > COPIED_BYTES
          && allocated.stream().noneMatch(own -> contains(own, segment));
    }

    private static boolean contains(MemorySegment own, MemorySegment segment) {
      long offset = segment.address() - own.address();
      return own.scope().isAlive() && offset >= 0 && offset <= own.byteSize() - segment.byteSize();
    }
  }
}
