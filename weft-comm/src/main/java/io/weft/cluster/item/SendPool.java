// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The registered memory for outgoing payloads that peers cannot access where they lie: each is
/// copied into it once. Confined to the progress thread, except the count.
public final class SendPool {

  private final Transport transport;
  private final ReceivePool pool;
  private volatile long copiedBytes;
  private int out;
  private boolean ended;

  /// Creates a pool of at most this much memory, allocated on demand.
  public SendPool(Transport transport, long mostBytes) {
    this.transport = transport;
    this.pool = new ReceivePool(transport, mostBytes);
  }

  /// Returns whether a payload should be copied: peers cannot access it where it lies, and it fits
  /// the pool.
  public boolean takes(MemorySegment payload) {
    return transport.isForeign(payload) && pool.fits(payload.byteSize());
  }

  /// Copies a payload that peers cannot access where it lies. Returns null if they can, or if the
  /// pool has no room.
  public @Nullable SliceLease tryCopy(MemorySegment payload) {
    SliceLease lease = takes(payload) ? tryLease(payload.byteSize()) : null;
    if (lease != null) {
      try {
        Slice all = lease.slice();
        copy(payload, all.region().segment().asSlice(all.offset(), payload.byteSize()));
      } catch (RuntimeException | Error freed) {
        free(lease);
        throw freed;
      }
    }
    return lease;
  }

  /// Leases memory of this length; null if the pool has no room.
  public @Nullable SliceLease tryLease(long bytes) {
    SliceLease lease = pool.tryLease(bytes).orElse(null);
    if (lease != null) {
      out++;
    }
    return lease;
  }

  /// Copies a payload into leased memory. Throws `IllegalStateException` if the payload was freed.
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  public void copy(MemorySegment payload, MemorySegment into) {
    into.copyFrom(payload);
    copiedBytes += payload.byteSize();
  }

  /// Returns a lease whose memory no peer accesses.
  public void free(SliceLease lease) {
    lease.close();
    out--;
    closeIfEnded();
  }

  /// Closes the pool when all its leases are returned.
  public void end() {
    ended = true;
    closeIfEnded();
  }

  private void closeIfEnded() {
    if (ended && out == 0) {
      pool.close();
    }
  }

  /// Returns the total of copied bytes. Any thread.
  public long copiedBytes() {
    return copiedBytes;
  }
}
