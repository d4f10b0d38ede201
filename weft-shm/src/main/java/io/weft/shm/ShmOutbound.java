// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The send queue to one peer, in posting order. Data is copied directly into mappable memory of
/// the peer, and otherwise through the ring and its staging slots. A duty cycle begins no piece
/// after 1 MiB.
final class ShmOutbound {

  static final int MAX_IN_FLIGHT = 1024;

  /// The longest operation that is copied while it is posted, if the queue is empty.
  private static final int COPIED_WHEN_POSTED_BYTES = 1 << 16;

  private static final long BYTES_PER_CYCLE = 1 << 20;

  private final RingWriter ring;
  private final PeerRegions peer;
  private final RegionTable table;
  private final MappedCopy direct;
  private final OpQueue posted = new OpQueue(MAX_IN_FLIGHT);
  private final OpQueue waiting;
  private final OpQueue served = new OpQueue(MAX_IN_FLIGHT);
  // The position in `posted` of the first operation that is not executed.
  private long next;
  private int inFlight;
  private int context;
  // The operation whose payload is passing through the staging slots.
  private @Nullable ShmOperation streaming;
  private boolean published;
  private long bytesSent;
  private long streamed;

  ShmOutbound(
      RingWriter ring, PeerRegions peer, RegionTable table, OpQueue waiting, String peerName) {
    this.ring = ring;
    this.peer = peer;
    this.table = table;
    this.waiting = waiting;
    direct = new MappedCopy(ring, peerName);
  }

  long bytesSent() {
    return bytesSent + direct.written();
  }

  /// Returns whether a frame was published since the last call.
  boolean takePublished() {
    boolean was = published;
    published = false;
    return was;
  }

  /// Copies a message into the ring; returns false if it does not fit, or a write precedes it.
  ///
  /// Hot path.
  boolean message(MemorySegment message) throws ShmFault {
    int size = (int) message.byteSize();
    if (next != posted.tail() || streaming != null || !ring.mayPut(size)) {
      return false;
    }
    ring.header(ShmFrame.MESSAGE, 0, 0, 0, 0, size);
    ring.payload(message, 0, size);
    publish(size);
    return true;
  }

  private void publish(int payload) {
    ring.publish(payload);
    published = true;
    bytesSent += ShmFrame.BYTES + payload;
  }

  /// Returns a slot for one more operation, or null.
  ///
  /// Hot path.
  @Nullable ShmOperation post(ShmOperation.OperationKind kind) {
    if (inFlight == MAX_IN_FLIGHT || posted.isFull()) {
      return null;
    }
    ShmOperation op = posted.add();
    op.begin(kind);
    inFlight++;
    return op;
  }

  /// Refuses the last `post`, which completes in posting order.
  void refuse(ShmOperation op, String why) {
    direct.refuse(op, why);
  }

  /// Executes the last `post`, which the caller has filled in, if it is short and the queue is
  /// empty.
  ///
  /// Hot path.
  void start(ShmOperation op) throws ShmFault {
    if (op.bytes <= COPIED_WHEN_POSTED_BYTES && next == posted.tail() - 1 && streaming == null) {
      var unused = execute();
    }
  }

  /// Returns a slot for the answer to one more read of the peer; null if the peer exceeds its
  /// limit.
  @Nullable ShmOperation serve() {
    if (served.isFull()) {
      return null;
    }
    ShmOperation op = served.add();
    op.begin(ShmOperation.OperationKind.SERVE);
    op.region = null;
    op.done = null;
    return op;
  }

  /// Tells the peer that an extent was freed; returns false if the frame does not fit.
  boolean gone(int number) throws ShmFault {
    if (streaming != null || !ring.hasRoom(0)) {
      return false;
    }
    ring.header(ShmFrame.GONE, 0, number, 0, 0, 0);
    publish(0);
    return true;
  }

  /// Advances posted operations and completes executed ones; returns whether any advanced.
  /// Completions fire inside.
  ///
  /// Hot path.
  boolean advance() throws ShmFault {
    boolean worked = false;
    long until = moved() + BYTES_PER_CYCLE;
    while (moved() < until) {
      boolean moved = false;
      if (streaming == null && !served.isEmpty()) {
        moved = answer();
      }
      if (streaming != null && streaming.kind == ShmOperation.OperationKind.SERVE) {
        moved |= stream(streaming);
      } else if (next != posted.tail()) {
        moved |= execute();
      }
      moved |= complete();
      if (!moved) {
        break;
      }
      worked = true;
    }
    return worked;
  }

  private long moved() {
    return streamed + direct.moved();
  }

  private boolean complete() {
    if (posted.head() == next) {
      return false;
    }
    ShmOperation op = posted.at(posted.head());
    boolean vacant = op.kind == ShmOperation.OperationKind.VACANT;
    posted.pop();
    if (!vacant) {
      inFlight--;
      op.finish(op.error);
    }
    return true;
  }

  /// Advances the first operation that is not executed; returns whether it did.
  private boolean execute() throws ShmFault {
    ShmOperation op = posted.at(next);
    boolean moved =
        op.error != null || (op.kind == ShmOperation.OperationKind.WRITE ? write(op) : read(op));
    if (op.error != null || op.executed) {
      op.executed = true;
      next++;
    }
    return moved;
  }

  private boolean write(ShmOperation op) throws ShmFault {
    PeerRegion region = op.announced ? null : peer.find(op.key);
    if (region == null) {
      return writeThrough(op);
    }
    boolean copied = op.moved == op.bytes && op.bytes > 0;
    if (!copied && !direct.piece(op, region)) {
      return true;
    }
    if (op.moved < op.bytes) {
      return true;
    }
    if (!ring.mayPut(0)) {
      return !copied && op.bytes > 0;
    }
    ring.header(ShmFrame.NOTIFY, op.immediate, op.key, 0, 0, 0);
    publish(0);
    op.executed = true;
    return true;
  }

  private boolean read(ShmOperation op) throws ShmFault {
    PeerRegion region = peer.find(op.key);
    if (region != null) {
      op.executed = direct.piece(op, region) && op.moved == op.bytes;
      return true;
    }
    if (!peer.isOpen(op.key)) {
      direct.refuse(op, MappedCopy.CLOSED);
      return true;
    }
    if (!ring.mayPut(Long.BYTES)) {
      return false;
    }
    op.context = context++;
    ring.header(ShmFrame.READ, op.own().key(), op.key, op.context, op.remoteOffset, op.bytes);
    ring.word(op.offset);
    publish(Long.BYTES);
    waiting.add().take(op);
    return true;
  }

  /// Writes into memory that this side cannot map.
  private boolean writeThrough(ShmOperation op) throws ShmFault {
    if (streaming == null) {
      if (!peer.isOpen(op.key)) {
        direct.refuse(op, MappedCopy.CLOSED);
        return true;
      }
      boolean inline = op.bytes <= ShmFrame.INLINE_BYTES;
      int size = inline ? (int) op.bytes : 0;
      if (!ring.mayPut(size)) {
        return false;
      }
      ring.header(ShmFrame.WRITE, op.immediate, op.key, 0, op.remoteOffset, op.bytes);
      if (inline) {
        try {
          ring.payload(op.own().segment(), op.offset, size);
        } catch (IllegalStateException freed) {
          direct.refuseFreed(op, freed); // no byte of it was published
          return true;
        }
      } else {
        streaming = op;
      }
      op.announced = true;
      op.executed = inline;
      publish(size);
      return true;
    }
    return stream(op);
  }

  /// Fills staging slots with the rest of a long payload.
  private boolean stream(ShmOperation op) throws ShmFault {
    boolean moved = false;
    LocalRegion from = op.kind == ShmOperation.OperationKind.SERVE ? table.find(op.key) : op.own();
    while (op.moved < op.bytes && ring.mayPut(0) && ring.mayStage()) {
      if (from == null || !from.visit()) {
        // Only a peer's read gets here, because a claim keeps local regions open.
        refuseRead(op, ShmFrame.STALE_KEY);
        op.moved = op.bytes;
        break;
      }
      int step = (int) Math.min(op.bytes - op.moved, ControlLayout.STAGING_SLOT_BYTES);
      long at = op.kind == ShmOperation.OperationKind.SERVE ? op.remoteOffset : op.offset;
      try {
        ring.stage(from.segment(), at + op.moved, step);
      } catch (IllegalStateException freed) {
        breakOff(op, freed);
        break;
      } finally {
        from.leave();
      }
      op.moved += step;
      streamed += step;
      bytesSent += ShmFrame.BYTES + step;
      published = true;
      moved = true;
    }
    if (op.moved == op.bytes) {
      streaming = null;
      op.executed = true;
      if (op.kind == ShmOperation.OperationKind.SERVE) {
        served.pop();
      }
      return true;
    }
    return moved;
  }

  /// Cancels a partial payload whose memory was freed; the ring has room for a frame.
  private void breakOff(ShmOperation op, IllegalStateException freed) {
    op.moved = op.bytes;
    if (op.kind == ShmOperation.OperationKind.SERVE) {
      refuseRead(op, ShmFrame.STALE_KEY);
    } else {
      ring.header(ShmFrame.WITHDRAWN, 0, op.key, 0, 0, 0);
      publish(0);
      direct.refuseFreed(op, freed);
    }
  }

  /// Starts the answer to the peer's first read, or continues one that this side copies; returns
  /// whether it advanced.
  private boolean answer() throws ShmFault {
    ShmOperation op = served.at(served.head());
    LocalRegion region = table.find(op.key);
    boolean inline = op.bytes <= ShmFrame.INLINE_BYTES;
    int size = inline ? (int) Math.max(op.bytes, 0) : 0;
    if (!ring.mayPut(size)) {
      return false;
    }
    if (region == null || !region.visit()) {
      refuseRead(op, ShmFrame.STALE_KEY);
      served.pop();
      return true;
    }
    try {
      if (!region.contains(op.remoteOffset, op.bytes)) {
        refuseRead(op, ShmFrame.OUT_OF_BOUNDS);
        served.pop();
        return true;
      }
      PeerRegion receiveBuffer = inline ? null : receiveBuffer(op);
      if (receiveBuffer != null) {
        land(op, region, receiveBuffer);
        return true;
      }
      op.moved = 0;
      ring.header(ShmFrame.READ_DATA, 0, op.key, op.context, 0, op.bytes);
      if (inline) {
        served.pop();
        ring.payload(region.segment(), op.remoteOffset, size);
      } else {
        streaming = op;
      }
      publish(size);
    } catch (IllegalStateException freed) {
      refuseRead(op, ShmFrame.STALE_KEY); // takes the place of the answer
    } finally {
      region.leave();
    }
    return true;
  }

  /// Returns the peer's target region, if this side can map it.
  private @Nullable PeerRegion receiveBuffer(ShmOperation op) {
    PeerRegion into = peer.find(op.immediate);
    return into != null
            && op.offset >= 0
            && op.bytes <= into.segment().byteSize()
            && op.offset <= into.segment().byteSize() - op.bytes
        ? into
        : null;
  }

  /// Copies the next piece of an answer into the target region; the ring has room for a frame.
  private void land(ShmOperation op, LocalRegion from, PeerRegion into) {
    if (!direct.answer(op, from, into)) {
      refuseRead(op, ShmFrame.STALE_KEY);
      served.pop();
    } else if (op.moved == op.bytes) {
      ring.header(ShmFrame.READ_LANDED, 0, op.key, op.context, 0, op.bytes);
      publish(0);
      served.pop();
    }
  }

  private void refuseRead(ShmOperation op, int reason) {
    ring.header(ShmFrame.READ_REFUSED, reason, op.key, op.context, 0, 0);
    publish(0);
  }

  /// Finishes the first of the waiting reads.
  void finishRead(ShmOperation read, @Nullable TransportException error) {
    waiting.pop();
    inFlight--;
    read.finish(error);
  }

  /// Returns whether a duty cycle would find work that needs no room from the peer.
  boolean hasWork() throws ShmFault {
    if (posted.head() != next) {
      return true;
    }
    if (ring.isBlocked()) {
      return ring.findRoom();
    }
    return next != posted.tail() || streaming != null || !served.isEmpty();
  }

  /// Asks the peer, before a wait, to ring the bell when it makes room, if this side is blocked.
  void prepareToWait() {
    ring.prepareToWait();
  }

  void fail(TransportException cause) {
    streaming = null;
    while (!posted.isEmpty()) {
      ShmOperation op = posted.at(posted.head());
      boolean ended = op.executed;
      TransportException error = op.error;
      if (posted.head() == next) {
        next++;
      }
      posted.pop();
      op.finish(ended || error != null ? error : cause);
    }
    while (!waiting.isEmpty()) {
      ShmOperation op = waiting.at(waiting.head());
      waiting.pop();
      op.finish(cause);
    }
  }
}
