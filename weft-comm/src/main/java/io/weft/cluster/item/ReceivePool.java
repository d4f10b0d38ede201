// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import io.weft.transport.Transport;
import io.weft.transport.pool.BufferPool;
import io.weft.transport.pool.SliceLease;
import java.util.Optional;

/// The registered memory of a service where payloads arrive: bounded, so that payloads wait for
/// room. Confined to the progress thread.
public final class ReceivePool {

  private final long mostBytes;
  private final BufferPool pool;
  private boolean closed;

  /// With at most this much memory, taken as it is needed.
  public ReceivePool(Transport transport, long mostBytes) {
    this.mostBytes = mostBytes;
    this.pool = BufferPool.of(transport, mostBytes);
  }

  /// The bound.
  public long mostBytes() {
    return mostBytes;
  }

  /// Whether there is room for so much once nothing else is here: a lease is a power of two long.
  public boolean fits(long bytes) {
    return bytes <= Long.highestOneBit(mostBytes);
  }

  /// Memory for a payload; empty if there is no room now. The caller closes it.
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
