// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.transport.Transport;
import io.weft.transport.pool.BufferPool;
import io.weft.transport.pool.SliceLease;
import java.util.Optional;

/// The registered memory into which this rank reads payloads of peers' requests: bounded, so that
/// requests wait for room. Confined to the progress thread.
final class PayloadMemory {

  private final long mostBytes;
  private final BufferPool pool;
  private int leases;
  private boolean closed;

  PayloadMemory(Transport transport, long mostBytes) {
    this.mostBytes = mostBytes;
    this.pool = BufferPool.of(transport, mostBytes);
  }

  long mostBytes() {
    return mostBytes;
  }

  /// Whether there is room for so much once nothing else is here: a lease is a power of two long.
  boolean fits(long bytes) {
    return bytes <= Long.highestOneBit(mostBytes);
  }

  /// Gives the request memory for its payload; false if there is no room now.
  boolean tryLease(InboundRequest it) {
    Optional<SliceLease> memory = pool.tryLease(it.payloadBytes());
    if (memory.isEmpty()) {
      return false;
    }
    leases++;
    it.lands(memory.get());
    return true;
  }

  /// Takes back what the request has; nothing is posted on it.
  void free(InboundRequest it) {
    it.free();
    leases--;
  }

  /// Closes the pool, once, if no request has memory of it.
  void closeIfUnused() {
    if (leases == 0 && !closed) {
      closed = true;
      pool.close();
    }
  }
}
