// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.group.Group;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.Reducer;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One rank's slice of an allreduce or reduceScatter on the memory of all, or all of it for this
/// rank alone: adds the inputs in the order of the ranks, so that the bits do not depend on who
/// comes when, and stores the sum to all outputs, or its own, piece by piece. Confined to the
/// progress thread.
final class SliceReduce {

  /// Longest piece: what one visit covers, some 50 microseconds.
  static final long PIECE_BYTES = 256 << 10;

  /// Longest piece of a slice that is at least as long, which no cache holds with all that belongs
  /// to it: the JVM copies so many bytes at once with non-temporal stores, which save reading what
  /// is overwritten.
  private static final long LONG_PIECE_BYTES = 4 << 20;

  /// What is combined, and divided, while it is in the first-level cache.
  private static final int BLOCK_BYTES = CollectiveContext.BLOCK_BYTES;

  private final MappedReduceStage stage;
  private final MemorySegment block;
  private final @Nullable PeerMemory[] in;
  private final @Nullable PeerMemory[] out;
  private final MemorySegment[] inputs;
  private final MemorySegment[] outputs;
  private final int own;
  private final boolean direct;
  private final long blockBytes;
  private final boolean copiesLong;
  private final long pieceBytes;
  private final long outputsBegin;
  private final long end;
  private long next;

  private SliceReduce(
      MappedReduceStage stage,
      CollectiveContext context,
      int rank,
      @Nullable PeerMemory[] in,
      @Nullable PeerMemory[] out,
      boolean alone) {
    boolean onlyOwn = alone || stage.scattered();
    this.stage = stage;
    this.block = context.block();
    this.in = in;
    this.out = out;
    this.inputs = segments(in, stage.input());
    this.own = onlyOwn ? 0 : rank;
    this.outputs = onlyOwn ? new MemorySegment[] {stage.output()} : segments(out, stage.output());
    this.direct = in.length == 2 || (!onlyOwn && !isSame(outputs[rank], inputs[rank]));
    this.next = alone ? 0 : stage.slice(rank);
    this.end = alone ? stage.input().byteSize() : stage.slice(rank + 1);
    this.outputsBegin = stage.scattered() ? next : 0;
    this.copiesLong = direct && !onlyOwn && end - next >= LONG_PIECE_BYTES;
    this.pieceBytes = copiesLong ? LONG_PIECE_BYTES : PIECE_BYTES;
    this.blockBytes = alone ? PIECE_BYTES : BLOCK_BYTES;
  }

  private static MemorySegment[] segments(@Nullable PeerMemory[] memory, MemorySegment own) {
    MemorySegment[] segments = new MemorySegment[memory.length];
    for (int m = 0; m < memory.length; m++) {
      PeerMemory peers = memory[m];
      segments[m] = peers == null ? own : peers.segment();
    }
    return segments;
  }

  private static boolean isSame(MemorySegment output, MemorySegment input) {
    return output.address() == input.address();
  }

  /// Null if somebody's memory cannot be reached from here.
  ///
  /// @param alone each rank combines all of an allreduce for itself; no output is an input
  static @Nullable SliceReduce of(
      Group group,
      MappedReduceStage stage,
      CollectiveContext context,
      @Nullable RemoteRegion[] inputs,
      @Nullable RemoteRegion[] outputs,
      boolean alone) {
    PeerMemory[] in = new PeerMemory[group.size()];
    PeerMemory[] out = new PeerMemory[group.size()];
    for (int peer = 0; peer < group.size(); peer++) {
      if (peer == group.rank()) {
        continue;
      }
      RemoteRegion input = Objects.requireNonNull(inputs[peer]);
      RemoteRegion output = Objects.requireNonNull(outputs[peer]);
      in[peer] = context.map(group, peer, input);
      out[peer] = alone || output.equals(input) ? in[peer] : context.map(group, peer, output);
      if (!isAsLong(in[peer], stage) || !isAsLong(out[peer], stage)) {
        return null;
      }
    }
    return new SliceReduce(stage, context, group.rank(), in, out, alone);
  }

  private static boolean isAsLong(@Nullable PeerMemory memory, MappedReduceStage stage) {
    return memory != null && memory.segment().byteSize() >= stage.input().byteSize();
  }

  boolean done() {
    return next == end;
  }

  /// Does one more piece. False if a peer has closed its memory: it has failed, and says so.
  ///
  /// Hot path.
  boolean piece() {
    if (done()) {
      return true;
    }
    int visited = 0;
    while (visited < in.length && visit(visited)) {
      visited++;
    }
    boolean all = visited == in.length;
    try {
      if (all) {
        reducePiece();
      }
    } finally {
      for (int m = 0; m < visited; m++) {
        leave(m);
      }
    }
    return all;
  }

  private void reducePiece() {
    long until = Math.min(end, next + pieceBytes);
    for (long at = next; at < until; at += blockBytes) {
      long bytes = Math.min(blockBytes, until - at);
      reduce(at, bytes);
      if (!copiesLong) {
        copy(at, bytes);
      }
    }
    if (copiesLong) {
      copy(next, until - next);
    }
    next = until;
  }

  private boolean visit(int member) {
    PeerMemory source = in[member];
    PeerMemory target = out[member];
    if (source == null || target == null) {
      return true; // our own
    }
    if (!source.visit()) {
      return false;
    }
    if (source != target && !target.visit()) {
      source.leave();
      return false;
    }
    return true;
  }

  private void leave(int member) {
    PeerMemory source = in[member];
    PeerMemory target = out[member];
    if (source != null && target != null) {
      source.leave();
      if (source != target) {
        target.leave();
      }
    }
  }

  /// The sum grows in our own output; where that is our input, which more than two ranks may not
  /// have added yet, in a block of its own.
  private void reduce(long at, long bytes) {
    MappedReduceStage.Arithmetic arithmetic = stage.arithmetic();
    Reducer reducer = arithmetic.reducer();
    long elements = bytes / arithmetic.dtype().bytes();
    long outputAt = at - outputsBegin;
    MemorySegment sum = direct ? outputs[own] : block;
    long sumAt = direct ? outputAt : 0;
    if (inputs.length == 1) {
      MemorySegment.copy(inputs[0], at, sum, sumAt, bytes);
    } else {
      reducer.combine(sum, sumAt, inputs[0], at, inputs[1], at, elements);
    }
    for (int m = 2; m < inputs.length; m++) {
      reducer.reduce(sum, sumAt, inputs[m], at, elements);
    }
    if (arithmetic.divisor() > 1) {
      Kernels.divide(arithmetic.dtype(), sum, sumAt, elements, arithmetic.divisor());
    }
  }

  private void copy(long at, long bytes) {
    long outputAt = at - outputsBegin;
    MemorySegment sum = direct ? outputs[own] : block;
    long sumAt = direct ? outputAt : 0;
    for (int m = 0; m < outputs.length; m++) {
      if (m != own || !direct) {
        MemorySegment.copy(sum, sumAt, outputs[m], outputAt, bytes);
      }
    }
  }
}
