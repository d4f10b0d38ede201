// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Memory of a pool for the tensors of one edge. If a peer reads or writes it, it is a region of
/// its own, so that the permission can be withdrawn before the memory is reused for another edge.
/// Confined to the progress thread, except its memory.
public final class RouteBuffer {

  private final SliceLease piece;
  private final MemorySegment memory;
  private @Nullable MemoryRegion region;

  public RouteBuffer(SliceLease piece, long bytes) {
    this.piece = piece;
    this.memory = piece.slice().region().segment().asSlice(piece.slice().offset(), bytes);
  }

  public MemorySegment memory() {
    return memory;
  }

  /// Returns the slice for a read into this part of it.
  public Slice slice(long offset, long bytes) {
    return piece.slice().region().slice(piece.slice().offset() + offset, bytes);
  }

  public boolean isRegistered() {
    return region != null;
  }

  /// Returns the handle that a peer needs to write into it, registering it if necessary.
  public RemoteRegion export(Transport transport) {
    return region(transport).export();
  }

  /// Returns its region, registering it if necessary.
  MemoryRegion region(Transport transport) {
    MemoryRegion known = region;
    if (known == null) {
      known = transport.register(memory, piece);
      region = known;
    }
    return known;
  }

  /// Withdraws the permission of peers. Returns true if a peer may still access the memory; the
  /// caller must then call this again.
  public boolean withdraw() {
    MemoryRegion known = region;
    if (known == null) {
      return false;
    }
    known.close();
    if (known.isVisited()) {
      return true;
    }
    region = null;
    return false;
  }

  /// Returns its part of the pool.
  SliceLease piece() {
    return piece;
  }

  /// Returns the memory to the pool.
  public void free() {
    piece.close();
  }
}
