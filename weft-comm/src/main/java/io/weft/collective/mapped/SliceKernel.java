// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.AdditionTree;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.collective.group.Group;
import io.weft.tensor.kernel.Kernels;
import io.weft.transport.PeerMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Combines one rank's slice of an allreduce or reduceScatter on the memory of all ranks. It adds
/// the inputs in the tree of `AdditionOrder`, so that the bits depend neither on timing nor on the
/// way, and stores the sum to all outputs, or to its own, piece by piece. Confined to the progress
/// thread.
final class SliceKernel {

  private final SliceLayout layout;
  private final AdditionTree tree;
  private final int rank;
  private final @Nullable PeerMemory[] in;
  private final @Nullable PeerMemory[] out;
  private final MemorySegment[] inputs;
  private final MemorySegment[] outputs;
  private final int own;

  // Start of the current piece in each input and output.
  private final long[] inputAt;
  private final long[] outputAt;

  private SliceKernel(
      SliceLayout layout,
      CollectiveContext context,
      int rank,
      @Nullable PeerMemory[] in,
      @Nullable PeerMemory[] out) {
    this.layout = layout;
    this.tree = context.sums();
    this.rank = rank;
    this.in = in;
    this.out = out;
    this.inputs = segments(in, layout.input());
    this.own = layout.scattered() ? 0 : rank;
    this.outputs =
        layout.scattered() ? new MemorySegment[] {layout.output()} : segments(out, layout.output());
    this.inputAt = new long[inputs.length];
    this.outputAt = new long[outputs.length];
  }

  private static MemorySegment[] segments(@Nullable PeerMemory[] memory, MemorySegment own) {
    MemorySegment[] segments = new MemorySegment[memory.length];
    for (int m = 0; m < memory.length; m++) {
      PeerMemory peers = memory[m];
      segments[m] = peers == null ? own : peers.segment();
    }
    return segments;
  }

  /// Returns null if this rank cannot access another rank's memory, or if that memory is too short.
  static @Nullable SliceKernel of(
      Group group, SliceLayout layout, CollectiveContext context, MemoryDescriptor[] members) {
    PeerMemory[] in = new PeerMemory[group.size()];
    PeerMemory[] out = new PeerMemory[group.size()];
    for (int peer = 0; peer < group.size(); peer++) {
      if (peer == group.rank()) {
        continue;
      }
      MemoryDescriptor member = members[peer];
      PeerMemory input = context.map(group, peer, member.input());
      PeerMemory output =
          member.output().equals(member.input())
              ? input
              : context.map(group, peer, member.output());
      long least = member.bounces() ? layout.windowBytes() : layout.input().byteSize();
      if (!isAsLong(input, least) || !isAsLong(output, least)) {
        return null;
      }
      in[peer] = input;
      out[peer] = output;
    }
    return new SliceKernel(layout, context, group.rank(), in, out);
  }

  private static boolean isAsLong(@Nullable PeerMemory memory, long bytes) {
    return memory != null && memory.segment().byteSize() >= bytes;
  }

  /// Combines a part of this rank's slice, through bounce buffers where members have them. Returns
  /// false if a peer has closed its memory; the peer has failed, and reports this itself.
  ///
  /// Hot path.
  boolean reducePart(int part, MemoryDescriptor[] members) {
    long at = layout.begin(rank, part);
    long inWindow = layout.inWindow(rank, part);
    for (int m = 0; m < inputs.length; m++) {
      inputAt[m] = m != rank && members[m].bounces() ? inWindow : at;
    }
    for (int m = 0; m < outputs.length; m++) {
      boolean bounces = m != own && members[m].bounces();
      outputAt[m] = bounces ? inWindow : outputBegin(at);
    }
    return reduce(layout.bytes(rank, part));
  }

  /// Combines the bytes of this rank's slice that begin at `at`, where all tensors are accessed in
  /// place.
  ///
  /// Hot path.
  boolean reduce(long at, long bytes) {
    Arrays.fill(inputAt, at);
    Arrays.fill(outputAt, outputBegin(at));
    return reduce(bytes);
  }

  private long outputBegin(long at) {
    return layout.scattered() ? at - layout.slice(rank) : at;
  }

  private boolean reduce(long bytes) {
    int visited = 0;
    while (visited < in.length && visit(visited)) {
      visited++;
    }
    boolean all = visited == in.length;
    try {
      if (all) {
        reduceVisited(bytes);
      }
    } finally {
      for (int m = 0; m < visited; m++) {
        leave(m);
      }
    }
    return all;
  }

  private void reduceVisited(long bytes) {
    long most = tree.longest(in.length);
    long length;
    for (long from = 0; from < bytes; from += length) {
      length = Math.min(bytes - from, most);
      sum(from, length);
    }
  }

  private boolean visit(int member) {
    PeerMemory source = in[member];
    PeerMemory target = out[member];
    if (source == null || target == null) {
      return true; // this rank's memory
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

  /// Stores a part of the sum to this rank's output, which may be its input, and copies it from
  /// there to all others.
  private void sum(long from, long bytes) {
    SliceLayout.Arithmetic arithmetic = layout.arithmetic();
    long elements = bytes / arithmetic.dtype().bytes();
    MemorySegment sum = outputs[own];
    long sumAt = outputAt[own] + from;
    tree.combine(sum, sumAt, inputs, inputAt, from, elements, arithmetic.reducer());
    if (arithmetic.divisor() > 1) {
      Kernels.divide(arithmetic.dtype(), sum, sumAt, elements, arithmetic.divisor());
    }
    for (int m = 0; m < outputs.length; m++) {
      if (m != own) {
        MemorySegment.copy(sum, sumAt, outputs[m], outputAt[m] + from, bytes);
      }
    }
  }
}
