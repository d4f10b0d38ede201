// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.BadCount;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.PartDescriptor;
import io.weft.observer.OperationStage;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An exchange in which ranks copy their parts from the memory of others. A source announces the
/// location and length of its part to each destination (SHARE). A destination replies when it has
/// copied the part, or cannot (DONE).
///
/// A peer reads this rank's input only between this rank's SHARE and the peer's DONE, in visits of
/// bounded length, and never after the region is closed. A failed operation waits for the last
/// visit, so that no rank completes with bytes stored there later. Confined to the progress thread.
final class OneSidedCopyTask implements StageTask {

  private final RunningOperation operation;
  private final OneSidedCopyStage stage;
  private final int stageIndex;
  private final CollectiveContext context;
  private final int rank;
  private final int size;

  /// Members whose SHARE is outstanding.
  private final BitSet silent = new BitSet();

  private final @Nullable PartDescriptor[] parts;
  private final @Nullable OneSidedCopy[] copies;
  private final BitSet sources;
  private final BitSet readers;
  private @Nullable MemoryRegion input;
  private boolean prepared;
  private boolean ended;

  // Reported to the observer.
  private boolean sent;
  private boolean received;

  OneSidedCopyTask(
      RunningOperation operation,
      OneSidedCopyStage stage,
      int stageIndex,
      CollectiveContext context) {
    this.operation = operation;
    this.stage = stage;
    this.stageIndex = stageIndex;
    this.context = context;
    this.rank = operation.group().rank();
    this.size = operation.group().size();
    this.parts = new PartDescriptor[size];
    this.copies = new OneSidedCopy[size];
    this.sources = stage.sources();
    silent.or(sources);
    silent.clear(rank);
    this.readers = stage.readers();
  }

  @Override
  public RunningOperation operation() {
    return operation;
  }

  @Override
  public void start() {
    if (readers.isEmpty()) {
      return;
    }
    MemoryRegion published = context.register(stage.input(), this);
    input = published;
    int mappable = published.isMappable() ? 1 : 0;
    for (int d = 1; d < size; d++) {
      int peer = (rank + d) % size;
      if (readers.get(peer)) {
        stage.part(peer, published.export()).write(context.scratch());
        context.send(
            operation,
            peer,
            CollectiveFrame.Type.SHARE,
            stageIndex,
            mappable,
            PartDescriptor.MESSAGE_BYTES);
      }
    }
    if (mappable == 0) {
      stage.keepPrivate();
      readers.clear();
    }
  }

  @Override
  public void onShare(int peer, MemorySegment frame) {
    if (!silent.get(peer)) {
      operation.brokenBy(peer, "an offer of its memory that is not due");
    } else if (frame.byteSize() != PartDescriptor.MESSAGE_BYTES) {
      operation.brokenBy(peer, "an offer of " + frame.byteSize() + " bytes");
    } else {
      PartDescriptor part = PartDescriptor.read(frame);
      boolean isPrivate = CollectiveFrame.aux(frame) == 0;
      silent.clear(peer);
      stage.told(peer, part.rows(), isPrivate);
      if (isPrivate) {
        sources.clear(peer);
      } else {
        parts[peer] = part;
      }
    }
  }

  @Override
  public void onDone(int peer, MemorySegment frame) {
    if (!readers.get(peer)) {
      operation.brokenBy(peer, "a DONE that is not due");
      return;
    }
    readers.clear(peer);
    if (CollectiveFrame.aux(frame) != 0) {
      stage.leaveUnserved(peer);
    }
  }

  @Override
  public int advance() {
    int work = copyPiece();
    tellHowFar();
    return work;
  }

  /// Reports SENT and REDUCED. A later exchange sends a private tensor.
  private void tellHowFar() {
    if (!sent && readers.isEmpty() && (input == null || input.isMappable())) {
      sent = true;
      operation.reached(OperationStage.SENT);
    }
    if (!received && prepared && sources.isEmpty()) {
      received = true;
      operation.reached(OperationStage.REDUCED);
    }
  }

  private int copyPiece() {
    if (ended || !silent.isEmpty() || (prepared && sources.isEmpty())) {
      return 0;
    }
    if (!prepared) {
      return prepare() ? 1 : 0;
    }
    // Each rank begins at its right neighbour, so that not all ranks read from one. Its own part is
    // last.
    for (int d = 1; d <= size; d++) {
      int peer = (rank + d) % size;
      OneSidedCopy copy = copies[peer];
      if (sources.get(peer) && copy != null) {
        boolean moved = copy.piece();
        if (copy.done()) {
          context.countMapped(peer == rank ? 0 : stage.bytes(peer));
          taken(peer, 0);
        }
        return moved ? 1 : 0;
      }
    }
    return 0;
  }

  /// Allocates the result and maps the others' memory. Returns false if this failed the operation.
  private boolean prepare() {
    prepared = true;
    if (!stage.takes()) {
      return true;
    }
    try {
      stage.prepare();
    } catch (BadCount count) {
      operation.brokenBy(count.member(), count.what());
      return false;
    } catch (OutOfMemoryError noRoom) {
      operation.noRoom(noRoom);
      return false;
    }
    for (int peer = sources.nextSetBit(0); peer >= 0; peer = sources.nextSetBit(peer + 1)) {
      PartDescriptor part = parts[peer];
      if (part == null) {
        copies[peer] =
            new OneSidedCopy(null, stage.ownPart(), stage.target(peer), stage.pieceBytes());
      } else if (!reach(peer, part)) {
        return false;
      }
    }
    return true;
  }

  /// Maps a peer's memory. Returns false if the peer's part is invalid.
  private boolean reach(int peer, PartDescriptor part) {
    PeerMemory memory = context.map(operation.group(), peer, part.region());
    long bytes = stage.bytes(peer);
    if (memory == null) {
      stage.miss(peer);
      taken(peer, 1);
    } else if (part.isInside(memory.segment(), bytes)) {
      MemorySegment from = memory.segment().asSlice(part.offset(), bytes);
      copies[peer] = new OneSidedCopy(memory, from, stage.target(peer), stage.pieceBytes());
    } else {
      operation.brokenBy(
          peer,
          "an offer of " + part.rows() + " rows at " + part.offset() + " that its memory lacks");
      return false;
    }
    return true;
  }

  private void taken(int peer, int missed) {
    sources.clear(peer);
    if (peer != rank) {
      context.send(
          operation,
          peer,
          CollectiveFrame.Type.DONE,
          stageIndex,
          missed,
          CollectiveFrame.HEADER_BYTES);
    }
  }

  @Override
  public boolean done() {
    return prepared && sources.isEmpty() && readers.isEmpty();
  }

  @Override
  public void release() {
    if (input != null) {
      input.close();
    }
  }

  @Override
  public boolean tryAbandon() {
    ended = true;
    release();
    return !isVisited();
  }

  private boolean isVisited() {
    return input != null && input.isVisited();
  }

  @Override
  public List<Integer> usedBy() {
    return isVisited() ? stage.readers().stream().boxed().toList() : List.of();
  }

  @Override
  public boolean needs(int peer) {
    return sources.get(peer) || readers.get(peer);
  }

  @Override
  public List<Integer> waitingFor() {
    BitSet awaited = new BitSet();
    awaited.or(silent.isEmpty() ? sources : silent);
    awaited.or(readers);
    awaited.clear(rank);
    return awaited.stream().boxed().toList();
  }

  /// A copy from the memory of a peer or of this rank, piece by piece.
  private static final class OneSidedCopy {

    private final @Nullable PeerMemory peer;
    private final MemorySegment source;
    private final MemorySegment target;
    private final long pieceBytes;
    private long moved;

    /// Creates a copy between segments of equal length.
    ///
    /// @param peer owner of `source`; null for this rank
    /// @param pieceBytes longest piece
    OneSidedCopy(
        @Nullable PeerMemory peer, MemorySegment source, MemorySegment target, long pieceBytes) {
      this.peer = peer;
      this.source = source;
      this.target = target;
      this.pieceBytes = pieceBytes;
    }

    boolean done() {
      return moved == target.byteSize();
    }

    /// Copies one more piece. Returns false if the peer has closed its memory; the peer has failed,
    /// and reports this itself.
    ///
    /// Hot path.
    boolean piece() {
      if (done()) {
        return true;
      }
      if (peer != null && !peer.visit()) {
        return false;
      }
      try {
        long bytes = Math.min(pieceBytes, target.byteSize() - moved);
        MemorySegment.copy(source, moved, target, moved, bytes);
        moved += bytes;
      } finally {
        if (peer != null) {
          peer.leave();
        }
      }
      return true;
    }
  }
}
