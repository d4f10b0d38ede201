// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.cluster.item.ReceivePool;
import io.weft.transport.Transport;
import io.weft.transport.pool.SliceLease;
import java.util.Optional;

/// The registered memory into which this rank reads payloads of peers' requests: bounded, so that
/// requests wait for room. Confined to the progress thread.
final class PayloadMemory {

  private final ReceivePool pool;
  private int leases;

  PayloadMemory(Transport transport, long mostBytes) {
    this.pool = new ReceivePool(transport, mostBytes);
  }

  long mostBytes() {
    return pool.mostBytes();
  }

  /// Whether there is room for so much once nothing else is here: a lease is a power of two long.
  boolean fits(long bytes) {
    return pool.fits(bytes);
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
    if (leases == 0) {
      pool.close();
    }
  }
}
