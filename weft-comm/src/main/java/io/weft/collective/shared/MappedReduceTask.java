// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// An exchange in which each rank works on the others' memory where it lies: all say where theirs
/// is (SHARE), each does its slice, all say that they have done it (DONE). Where a tensor is
/// private, a staging window stands in for it, which is nothing to the others. Where there is no
/// window for it, its rank says so and goes on to the next stage at once, and so do the others when
/// they hear it. A rank that cannot map another's memory leaves its slice undone and says so.
///
/// A peer touches a tensor only between its SHARE and our DONE, in visits of a bounded length, and
/// none after its region is closed: so a failed operation closes its regions, and ends when the
/// last visit does. Confined to the progress thread.
final class MappedReduceTask extends MappedTask {

  private final MappedReduceStage stage;
  private final @Nullable RemoteRegion[] inputs;
  private final @Nullable RemoteRegion[] outputs;
  private final BitSet working = new BitSet();
  private final ExposedMemory memory;
  private @Nullable SliceReduce reduce;
  private boolean over;
  private boolean isPrivate;

  MappedReduceTask(
      RunningOperation operation, MappedReduceStage stage, int phase, CollectiveContext context) {
    super(operation, phase, context);
    this.stage = stage;
    this.memory = new ExposedMemory(stage, context);
    this.inputs = new RemoteRegion[size];
    this.outputs = new RemoteRegion[size];
    silent.set(0, size);
    silent.clear(rank);
    working.or(silent);
  }

  @Override
  public void start() {
    boolean mappable = memory.register(rank, this, false);
    BounceBuffer published = memory.bounceBuffer();
    if (published != null) {
      published.publish();
    }
    if (published == null || published.isPublished()) {
      announce(mappable);
    }
    if (!mappable) {
      becomePrivate();
    }
  }

  private void announce(boolean mappable) {
    MemorySegment frame = context.scratch();
    for (int d = 1; d < size; d++) {
      int peer = (rank + d) % size;
      MemoryDescriptor.write(frame, memory.input(), memory.output());
      long bytes = mappable ? MemoryDescriptor.MESSAGE_BYTES : CollectiveFrame.HEADER_BYTES;
      context.send(
          operation, peer, CollectiveFrame.Type.SHARE, phase, mappable ? memory.kind() : 0, bytes);
    }
  }

  private void becomePrivate() {
    isPrivate = true;
    stage.leaveAllUndone();
  }

  @Override
  public void onShare(int peer, MemorySegment frame) {
    if (!silent.get(peer)) {
      operation.brokenBy(peer, "a second offer of its memory");
    } else if (CollectiveFrame.aux(frame) == 0) {
      silent.clear(peer);
      becomePrivate();
    } else if (frame.byteSize() < MemoryDescriptor.MESSAGE_BYTES) {
      operation.brokenBy(peer, "an offer of " + frame.byteSize() + " bytes");
    } else {
      silent.clear(peer);
      if (CollectiveFrame.aux(frame) == MemoryDescriptor.STAND_IN) {
        stage.bounceBuffer();
      }
      inputs[peer] = MemoryDescriptor.input(frame);
      outputs[peer] = MemoryDescriptor.output(frame);
    }
  }

  @Override
  public void onDone(int peer, MemorySegment frame) {
    if (silent.get(peer) || !working.get(peer) || isPrivate) {
      operation.brokenBy(peer, "an end where nothing was begun");
      return;
    }
    working.clear(peer);
    BounceBuffer published = memory.bounceBuffer();
    if (CollectiveFrame.aux(frame) != 0) {
      stage.leaveUndone(peer);
    } else if (published != null && !stage.scattered()) {
      published.arrived(peer);
    }
  }

  /// Works on one piece: of what others wait for first.
  @Override
  public int advance() {
    if (isPrivate) {
      return 0;
    }
    BounceBuffer published = memory.bounceBuffer();
    if (published != null && !published.isPublished()) {
      published.publish();
      if (published.isPublished()) {
        announce(true);
      }
      return 1;
    }
    if (!over && silent.isEmpty()) {
      return reduce();
    }
    if (published != null && !published.isTaken()) {
      published.take();
      return 1;
    }
    return 0;
  }

  /// One piece of this rank's slice.
  private int reduce() {
    SliceReduce running = reduce;
    if (running == null) {
      running = SliceReduce.of(operation.group(), stage, context, inputs, outputs, false);
      reduce = running;
      if (running == null) {
        stage.leaveUndone(rank);
        acknowledge(1);
        return 1;
      }
    }
    int work = running.piece() ? 1 : 0;
    if (running.done()) {
      acknowledge(0);
    }
    return work;
  }

  private void acknowledge(int undone) {
    over = true;
    for (int peer = 0; peer < size; peer++) {
      if (peer != rank) {
        sendDone(peer, undone);
      }
    }
  }

  @Override
  public boolean done() {
    BounceBuffer published = memory.bounceBuffer();
    return isPrivate || (over && working.isEmpty() && (published == null || published.isTaken()));
  }

  @Override
  public void release() {
    memory.release();
  }

  @Override
  public boolean tryAbandon() {
    over = true;
    memory.abandon();
    return !memory.isVisited();
  }

  @Override
  public List<Integer> usedBy() {
    return memory.isVisited() ? others().toList() : List.of();
  }

  @Override
  public boolean needs(int peer) {
    // Until this rank's slice is done, of everybody's memory.
    return !isPrivate && (!over || silent.get(peer) || working.get(peer));
  }

  @Override
  public List<Integer> waitingFor() {
    if (isPrivate) {
      return List.of();
    }
    BitSet awaited = silent.isEmpty() ? working : silent;
    return awaited.stream().boxed().toList();
  }

  private java.util.stream.Stream<Integer> others() {
    return IntStream.range(0, size).filter(peer -> peer != rank).boxed();
  }
}
