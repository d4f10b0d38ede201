// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Copies between local regions and a peer's mapped ones, in pieces. Each piece is copied under a
/// claim of about a millisecond at most.
final class MappedCopy {

  static final String CLOSED = "the region is closed; ask the peer for its present regions";

  /// Long enough that the JVM copies with non-temporal stores.
  private static final long PIECE_BYTES = 4 << 20;

  private final RingWriter ring;
  private final String peerName;
  private long written;
  private long moved;

  MappedCopy(RingWriter ring, String peerName) {
    this.ring = ring;
    this.peerName = peerName;
  }

  /// Returns the bytes copied in either direction.
  long moved() {
    return moved;
  }

  /// Returns the bytes copied to the peer.
  long written() {
    return written;
  }

  /// Copies the next piece of a read or write; returns false if it was refused.
  ///
  /// Hot path.
  boolean piece(ShmOperation op, PeerRegion region) {
    MemorySegment theirs = region.segment();
    if (op.remoteOffset > theirs.byteSize() - op.bytes) {
      refuse(op, "it lies outside the region of " + theirs.byteSize() + " bytes");
      return false;
    }
    if (!region.visit()) {
      refuse(op, CLOSED);
      return false;
    }
    long step = Math.min(op.bytes - op.moved, PIECE_BYTES);
    MemorySegment ours = op.own().segment();
    try {
      if (op.kind == ShmOperation.OperationKind.WRITE) {
        MemorySegment.copy(ours, op.offset + op.moved, theirs, op.remoteOffset + op.moved, step);
        written += step;
        ring.progress(written);
      } else {
        MemorySegment.copy(theirs, op.remoteOffset + op.moved, ours, op.offset + op.moved, step);
      }
    } catch (IllegalStateException freed) {
      refuseFreed(op, freed);
      return false;
    } finally {
      region.leave();
    }
    op.moved += step;
    moved += step;
    return true;
  }

  /// Copies the next piece of the answer to a peer's read out of a visited local region. Returns
  /// false if the peer's region cannot be visited or the local memory was freed.
  ///
  /// Hot path.
  boolean answer(ShmOperation op, LocalRegion from, PeerRegion into) {
    if (!into.visit()) {
      return false;
    }
    long step = Math.min(op.bytes - op.moved, PIECE_BYTES);
    try {
      MemorySegment.copy(
          from.segment(), op.remoteOffset + op.moved, into.segment(), op.offset + op.moved, step);
    } catch (IllegalStateException freed) {
      return false;
    } finally {
      into.leave();
    }
    written += step;
    ring.progress(written);
    op.moved += step;
    moved += step;
    return true;
  }

  /// Marks the operation as refused; it completes in posting order.
  void refuse(ShmOperation op, String why) {
    refuse(op, why, null);
  }

  /// Refuses the operation because the arena of the local memory was closed.
  void refuseFreed(ShmOperation op, IllegalStateException cause) {
    refuse(op, "its arena is closed", cause);
  }

  private void refuse(ShmOperation op, String why, @Nullable Throwable cause) {
    op.error =
        new TransportException.Refused(
            (op.kind == ShmOperation.OperationKind.WRITE ? "write" : "read")
                + " of "
                + op.bytes
                + " bytes at "
                + peerName
                + " refused: "
                + why,
            cause);
  }
}
