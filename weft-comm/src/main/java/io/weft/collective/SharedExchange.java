// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// An exchange in which each rank works on the others' memory where it lies: all say where theirs
/// is (SHARE), each does its slice, all say that they have done it (DONE). Where a tensor is
/// private and short, a staging window stands in for it, which is nothing to the others. Where one
/// is long, its rank says so and goes on to the next stage at once, and so do the others when they
/// hear it. A rank that cannot map another's memory leaves its slice undone and says so.
///
/// A peer touches a tensor only between its SHARE and our DONE, in visits of a bounded length, and
/// none after its region is closed: so a failed operation closes its regions, and ends when the
/// last visit does. Confined to the lane's thread.
final class SharedExchange implements Exchange {

  private final Operation<?> operation;
  private final SharedStage stage;
  private final int phase;
  private final Wires wires;
  private final int rank;
  private final int size;
  private final @Nullable RemoteRegion[] inputs;
  private final @Nullable RemoteRegion[] outputs;
  private final BitSet silent = new BitSet();
  private final BitSet working = new BitSet();
  private @Nullable MemoryRegion input;
  private @Nullable MemoryRegion output;
  private @Nullable StandIn standIn;
  private @Nullable DirectReduce reduce;
  private boolean over;
  private boolean isPrivate;

  SharedExchange(Operation<?> operation, SharedStage stage, int phase, Wires wires) {
    this.operation = operation;
    this.stage = stage;
    this.phase = phase;
    this.wires = wires;
    this.rank = operation.group().rank();
    this.size = operation.group().size();
    this.inputs = new RemoteRegion[size];
    this.outputs = new RemoteRegion[size];
    silent.set(0, size);
    silent.clear(rank);
    working.or(silent);
  }

  @Override
  public Operation<?> operation() {
    return operation;
  }

  @Override
  public void start() {
    boolean mappable = show();
    MemoryRegion in = Objects.requireNonNull(input);
    MemoryRegion out = output == null ? in : output;
    MemorySegment frame = wires.scratch();
    for (int d = 1; d < size; d++) {
      int peer = (rank + d) % size;
      Share.write(frame, in.export(), out.export());
      long bytes = mappable ? Share.MESSAGE_BYTES : Frame.HEADER_BYTES;
      wires.send(operation, peer, Frame.Type.SHARE, phase, mappable ? 1 : 0, bytes);
    }
    if (!mappable) {
      becomePrivate();
    }
  }

  /// Registers what peers are to work on. False if that is private, and too long for a stand-in.
  private boolean show() {
    MemoryRegion in = wires.register(stage.input(), this);
    input = in;
    if (!stage.isApart(rank)) {
      return false;
    }
    MemoryRegion out = in;
    if (!stage.onlyInput()) {
      out = wires.register(stage.output(), this);
      output = out;
    }
    if (in.isMappable() && out.isMappable()) {
      return true;
    }
    if (stage.input().byteSize() > wires.staging().windowBytes()) {
      return false;
    }
    release();
    StandIn shown = new StandIn(stage, wires.staging().lease(stage.input().byteSize()));
    standIn = shown;
    input = shown.window();
    output = null;
    for (int d = 1; d < size; d++) {
      shown.show((rank + d) % size);
    }
    return input.isMappable();
  }

  private void becomePrivate() {
    isPrivate = true;
    stage.leaveAllUndone();
  }

  @Override
  public void onShare(int peer, MemorySegment frame) {
    if (!silent.get(peer)) {
      operation.brokenBy(peer, "a second offer of its memory");
    } else if (Frame.aux(frame) == 0) {
      silent.clear(peer);
      becomePrivate();
    } else if (frame.byteSize() < Share.MESSAGE_BYTES) {
      operation.brokenBy(peer, "an offer of " + frame.byteSize() + " bytes");
    } else {
      silent.clear(peer);
      inputs[peer] = Share.input(frame);
      outputs[peer] = Share.output(frame);
    }
  }

  @Override
  public void onDone(int peer, MemorySegment frame) {
    if (silent.get(peer) || !working.get(peer) || isPrivate) {
      operation.brokenBy(peer, "an end where nothing was begun");
      return;
    }
    working.clear(peer);
    if (Frame.aux(frame) != 0) {
      stage.leaveUndone(peer);
    } else if (standIn != null && !stage.scattered()) {
      standIn.take(peer);
    }
  }

  /// Works on one piece of this rank's slice.
  @Override
  public int advance() {
    if (over || isPrivate || !silent.isEmpty()) {
      return 0;
    }
    DirectReduce running = reduce;
    if (running == null) {
      running = DirectReduce.of(operation, stage, wires, inputs, outputs);
      reduce = running;
      if (running == null) {
        stage.leaveUndone(rank);
        finish(1);
        return 1;
      }
    }
    int work = running.piece() ? 1 : 0;
    if (running.done()) {
      finish(0);
    }
    return work;
  }

  private void finish(int undone) {
    over = true;
    for (int peer = 0; peer < size; peer++) {
      if (peer != rank) {
        wires.send(operation, peer, Frame.Type.DONE, phase, undone, Frame.HEADER_BYTES);
      }
    }
  }

  @Override
  public boolean done() {
    return isPrivate || (over && working.isEmpty());
  }

  @Override
  public void release() {
    if (standIn != null) {
      wires.staging().giveBack(standIn.window());
      standIn = null;
      input = null;
    }
    if (input != null) {
      input.close();
    }
    if (output != null) {
      output.close();
    }
  }

  /// Peers may still be inside a stand-in, which then is not used again.
  @Override
  public boolean tryAbandon() {
    over = true;
    if (standIn != null) {
      wires.staging().forget(standIn.window());
      standIn = null;
      input = null;
    }
    release();
    return !isVisited();
  }

  private boolean isVisited() {
    return (input != null && input.isVisited()) || (output != null && output.isVisited());
  }

  @Override
  public List<Integer> usedBy() {
    return isVisited() ? others().toList() : List.of();
  }

  @Override
  public boolean needs(int peer) {
    return !isPrivate && (silent.get(peer) || working.get(peer));
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
