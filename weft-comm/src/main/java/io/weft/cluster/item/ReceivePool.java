// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import io.weft.transport.Transport;
import io.weft.transport.pool.BufferPool;
import io.weft.transport.pool.SliceLease;
import java.util.Optional;

/// The registered memory into which a service receives payloads. It is bounded, so payloads wait
/// for room. Confined to the progress thread.
public final class ReceivePool {

  private final long mostBytes;
  private final BufferPool pool;
  private boolean closed;

  /// Creates a pool of at most this much memory, allocated on demand.
  public ReceivePool(Transport transport, long mostBytes) {
    this.mostBytes = mostBytes;
    this.pool = BufferPool.of(transport, mostBytes);
  }

  /// The bound, in bytes.
  public long mostBytes() {
    return mostBytes;
  }

  /// Returns whether a payload of this size fits an empty pool, in which the length of a lease is
  /// rounded up to a power of two.
  public boolean fits(long bytes) {
    return bytes <= Long.highestOneBit(mostBytes);
  }

  /// Leases memory for a payload; empty while the pool has no room. The caller closes the lease.
  public Optional<SliceLease> tryLease(long bytes) {
    return pool.tryLease(bytes);
  }

  /// Closes the pool, once, when all its leases are closed.
  public void close() {
    if (!closed) {
      closed = true;
      pool.close();
    }
  }
}
