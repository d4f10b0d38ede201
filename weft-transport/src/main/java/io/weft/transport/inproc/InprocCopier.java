// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Executes one side's posted operations in order: it copies between local and remote memory, fires
/// completions and publishes to the peer. Confined to the posting thread.
final class InprocCopier {

  /// The bound of one copy, for which a closing peer may have to wait.
  private static final int COPY_BYTES = 1 << 18;

  private static final long BYTES_PER_CYCLE = 4 << 20;

  private final InprocTransport transport;
  private final InprocConnection line;
  private final boolean initiating;
  private final InprocPipe pipe;
  private final String peer;
  private long bytesSent;
  private boolean busy;
  private boolean ended;

  InprocCopier(InprocTransport transport, InprocConnection line, boolean initiating, String peer) {
    this.transport = transport;
    this.line = line;
    this.initiating = initiating;
    this.pipe = line.outgoing(initiating);
    this.peer = peer;
  }

  long bytesSent() {
    return bytesSent;
  }

  /// Publishes messages at the head of the queue.
  ///
  /// Hot path.
  void publishMessages() {
    for (InprocMessage next = pipe.unpublished();
        next != null && next.kind == InprocMessage.MessageKind.MESSAGE;
        next = pipe.unpublished()) {
      transport.countSent(next.bytes);
      bytesSent += next.traffic();
      pipe.publish();
    }
  }

  /// Executes the work of one duty cycle and returns its amount. A call from inside a completion
  /// does nothing.
  ///
  /// Hot path.
  int advance() {
    if (busy) {
      return 0;
    }
    busy = true;
    try {
      return carryOut();
    } finally {
      busy = false;
    }
  }

  private int carryOut() {
    int work = 0;
    long budget = BYTES_PER_CYCLE;
    while (!ended && budget > 0) {
      publishMessages();
      InprocMessage next = pipe.unpublished();
      if (next == null) {
        break;
      }
      work++;
      TransportException error = next.error;
      if (error == null && next.remaining >= 0) {
        error = check(next);
        if (error == null && next.remaining > 0) {
          int step = (int) Math.min(COPY_BYTES, next.remaining);
          if (!line.beginCopy(initiating)) {
            break;
          }
          try {
            error = copy(next, step);
          } finally {
            line.endCopy(initiating);
          }
          budget -= step;
        }
      }
      if (error != null || next.remaining == 0) {
        settle(next, error);
      }
    }
    return work;
  }

  private @Nullable TransportException check(InprocMessage parcel) {
    LocalRegion remote = line.remoteTable(initiating).find(parcel.remoteKey);
    if (remote == null) {
      return refused(parcel, "the region is closed; ask the peer for its present regions");
    }
    if (parcel.kind == InprocMessage.MessageKind.WRITE && remote.segment().isReadOnly()) {
      return refused(parcel, remote + " is read-only");
    }
    return remote.contains(parcel.remoteOffset, parcel.remaining)
        ? null
        : refused(parcel, "it lies outside " + remote);
  }

  private @Nullable TransportException copy(InprocMessage parcel, int step) {
    LocalRegion remote = line.remoteTable(initiating).find(parcel.remoteKey);
    LocalRegion own = parcel.region;
    if (own == null || remote == null || !remote.visit()) {
      return refused(parcel, "the region was closed during the transfer");
    }
    boolean writes = parcel.kind == InprocMessage.MessageKind.WRITE;
    MemorySegment from = writes ? own.segment() : remote.segment();
    MemorySegment into = writes ? remote.segment() : own.segment();
    long start = writes ? parcel.offset : parcel.remoteOffset;
    try {
      MemorySegment.copy(from, start, into, writes ? parcel.remoteOffset : parcel.offset, step);
    } catch (IllegalStateException freed) {
      if (!own.segment().scope().isAlive()) {
        return freed(parcel, freed);
      }
      if (!writes) {
        return refused(parcel, "its arena is closed");
      }
      // The peer learns of its closed arena when it is notified.
    } finally {
      remote.leave();
    }
    if (writes) {
      transport.countSent(step);
    }
    parcel.offset += step;
    parcel.remoteOffset += step;
    parcel.remaining -= step;
    return null;
  }

  private TransportException refused(InprocMessage parcel, String why) {
    return refused(parcel, why, null);
  }

  /// Creates the error for a closed arena of this side.
  private TransportException freed(InprocMessage parcel, IllegalStateException cause) {
    return refused(parcel, "its arena is closed", cause);
  }

  private TransportException refused(InprocMessage parcel, String why, @Nullable Throwable cause) {
    return new TransportException.Refused(
        (parcel.kind == InprocMessage.MessageKind.WRITE ? "write of " : "read of ")
            + parcel.remaining
            + " bytes at "
            + peer
            + " refused: "
            + why,
        cause);
  }

  private void settle(InprocMessage parcel, @Nullable TransportException error) {
    Completion done = parcel.done;
    LocalRegion region = parcel.region;
    parcel.done = null;
    parcel.region = null;
    parcel.error = null;
    if (error != null) {
      parcel.kind = InprocMessage.MessageKind.SILENT;
    }
    bytesSent += parcel.traffic();
    pipe.publish();
    if (region != null) {
      region.settle();
    }
    if (done != null) {
      done.complete(error);
    }
  }

  void fail(TransportException cause) {
    ended = true;
    for (InprocMessage next = pipe.unpublished(); next != null; next = pipe.unpublished()) {
      if (next.kind == InprocMessage.MessageKind.MESSAGE) {
        next.kind = InprocMessage.MessageKind.SILENT;
      }
      TransportException error = next.error;
      settle(next, error == null ? cause : error);
    }
  }
}
