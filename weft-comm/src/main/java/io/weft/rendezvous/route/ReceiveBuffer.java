// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Memory of the pool where one tensor arrives. Registered by itself where a peer writes it, so
/// that the permission can be withdrawn before the memory becomes another tensor's. Confined to the
/// progress thread, but for its memory.
public final class ReceiveBuffer {

  private final SliceLease piece;
  private final MemorySegment memory;
  private @Nullable MemoryRegion region;

  public ReceiveBuffer(SliceLease piece, long bytes) {
    this.piece = piece;
    this.memory = piece.slice().region().segment().asSlice(piece.slice().offset(), bytes);
  }

  public MemorySegment memory() {
    return memory;
  }

  /// For a read of this part of it.
  public Slice slice(long offset, long bytes) {
    return piece.slice().region().slice(piece.slice().offset() + offset, bytes);
  }

  public boolean isRegistered() {
    return region != null;
  }

  /// What a peer needs to write it.
  public RemoteRegion export(Transport transport) {
    MemoryRegion known = region;
    if (known == null) {
      known = transport.register(memory, piece);
      region = known;
    }
    return known.export();
  }

  /// Withdraws the permission. Whether a peer may still be inside, and this must be asked again.
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

  /// Gives the memory back to the pool.
  public void free() {
    piece.close();
  }
}
