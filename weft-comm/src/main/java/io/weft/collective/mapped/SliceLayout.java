// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.BufferLayout;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.ReduceKernel;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/// The layout of an allreduce or reduceScatter in the memory of all ranks, as one of them sees it:
/// the tensors, the owner of each slice, and the parts in which slices pass through bounce buffers.
/// It also records the slices that were left undone because memory is private or cannot be
/// accessed. These are equal on all ranks.
///
/// Each member combines its *slice* of all inputs. Members process all slices concurrently, in
/// successive *parts*. A part consists of one *piece* of each slice. Pieces have equal length
/// except in the last parts. A bounce buffer has room for a few parts, and is used cyclically.
/// Confined to the progress thread.
final class SliceLayout {

  /// Slices of an allreduce are cut at multiples of this many elements, so that no cache line has
  /// two writers.
  private static final long GRAIN = 64;

  private final MemorySegment input;
  private final MemorySegment output;
  private final long[] slices;
  private final boolean scattered;
  private final Arithmetic arithmetic;
  private final SegmentsOfBoth segments;
  private final long longest;
  private final BitSet undone = new BitSet();

  /// The computation.
  ///
  /// @param divisor divisor of AVERAGE, otherwise 1
  record Arithmetic(DType dtype, ReduceOp op, ReduceKernel reducer, int divisor) {

    /// Creates the arithmetic of this many ranks with the kernels of this JVM.
    static Arithmetic of(DType dtype, ReduceOp op, int size) {
      return new Arithmetic(
          dtype, op, Kernels.reducer(dtype, op), op == ReduceOp.AVERAGE ? size : 1);
    }
  }

  /// The amounts that are combined at once.
  ///
  /// @param direct segments where all tensors can be accessed
  /// @param bounced segments where a tensor passes through a bounce buffer
  record SegmentsOfBoth(Segments direct, Segments bounced) {}

  private SliceLayout(
      MemorySegment input,
      MemorySegment output,
      long[] slices,
      boolean scattered,
      Arithmetic arithmetic,
      SegmentsOfBoth segments) {
    this.input = input;
    this.output = output;
    this.slices = slices;
    this.scattered = scattered;
    this.arithmetic = arithmetic;
    this.segments = segments;
    long most = 0;
    for (int m = 0; m + 1 < slices.length; m++) {
      most = Math.max(most, slices[m + 1] - slices[m]);
    }
    this.longest = most;
  }

  /// Creates the layout of an allreduce: every slice is stored to all outputs. The tensors have
  /// equal length, and are the same memory or disjoint.
  static SliceLayout allreduce(
      MemorySegment input,
      MemorySegment output,
      Arithmetic arithmetic,
      int size,
      SegmentsOfBoth segments) {
    int elementBytes = arithmetic.dtype().bytes();
    long elements = input.byteSize() / elementBytes;
    long[] slices = new long[size + 1];
    for (int m = 0; m < size; m++) {
      long share = elements / size * m + elements % size * m / size;
      slices[m] = share / GRAIN * GRAIN * elementBytes;
    }
    slices[size] = elements * elementBytes;
    return new SliceLayout(input, output, slices, false, arithmetic, segments);
  }

  /// Creates the layout of a reduceScatter: slice r begins at byte `slices[r]` of each input, and
  /// is stored only to the output of rank r. The last entry of `slices` is the end.
  static SliceLayout reduceScatter(
      MemorySegment input,
      MemorySegment output,
      Arithmetic arithmetic,
      long[] slices,
      SegmentsOfBoth segments) {
    return new SliceLayout(input, output, slices, true, arithmetic, segments);
  }

  int size() {
    return slices.length - 1;
  }

  MemorySegment input() {
    return input;
  }

  MemorySegment output() {
    return output;
  }

  Arithmetic arithmetic() {
    return arithmetic;
  }

  /// Returns whether each slice is stored to one output only.
  boolean scattered() {
    return scattered;
  }

  /// Returns whether peers access only the input.
  boolean onlyInput() {
    return scattered || input.address() == output.address();
  }

  /// Returns whether this rank's stores leave intact everything that peers still read: its output
  /// does not overlap its input, except that it may be its slice.
  boolean isDisjoint(int rank) {
    long at = output.address() - input.address();
    return !scattered
        || at == slices[rank]
        || at >= input.byteSize()
        || at + output.byteSize() <= 0;
  }

  // --- slices, parts and pieces

  /// Returns the first byte of a member's slice; for member `size`, the end.
  long slice(int member) {
    return slices[member];
  }

  /// Returns the longest piece of a slice that is combined at once without bounce buffers.
  long directBytes() {
    return pieceOf(segments.direct());
  }

  /// Returns the longest piece of a slice in a bounce buffer.
  long pieceBytes() {
    return Math.min(pieceOf(segments.bounced()), roundedUp(longest));
  }

  private long pieceOf(Segments of) {
    long grain = GRAIN * arithmetic.dtype().bytes();
    return Math.max(grain, of.bytes() / size() / grain * grain);
  }

  private long roundedUp(long bytes) {
    long grain = GRAIN * arithmetic.dtype().bytes();
    return Math.max(grain, (bytes + grain - 1) / grain * grain);
  }

  /// Returns the number of parts in which tensors pass through bounce buffers; 0 for empty tensors.
  int parts() {
    return Math.toIntExact((longest + pieceBytes() - 1) / pieceBytes());
  }

  /// Returns the start of a part of a member's slice in a tensor.
  long begin(int member, int part) {
    return Math.min(slices[member] + part * pieceBytes(), slices[member + 1]);
  }

  /// Returns the length of a part of a member's slice; 0 after the end of the slice.
  long bytes(int member, int part) {
    return begin(member, part + 1) - begin(member, part);
  }

  /// Returns the number of parts that a bounce buffer can contain.
  int window() {
    return Math.max(1, Math.min(segments.bounced().inFlight(), parts()));
  }

  long windowBytes() {
    return (long) window() * size() * pieceBytes();
  }

  /// Returns the start of a part of a member's slice in a bounce buffer.
  long inWindow(int member, int part) {
    return ((long) (part % window()) * size() + member) * pieceBytes();
  }

  // --- slices left undone

  /// Records that this member could not access some memory, so its slice is unchanged in all
  /// outputs.
  void leaveUndone(int member) {
    undone.set(member);
  }

  /// Records that some member's memory is private, so all slices are unchanged.
  void leaveAllUndone() {
    undone.set(0, size());
  }

  boolean isPrivate() {
    return undone.cardinality() == size();
  }

  /// Returns the members whose slices a later stage must combine.
  BitSet undone() {
    return undone;
  }

  /// Returns the layout for a later stage: one chunk for each member's slice of the input, at the
  /// same place in `target`, empty if the slice is combined already.
  BufferLayout rest(MemorySegment target) {
    long[] bytes = new long[size()];
    for (int m = 0; m < size(); m++) {
      bytes[m] = undone.get(m) ? slices[m + 1] - slices[m] : 0;
    }
    long[] offset = Arrays.copyOf(slices, size());
    return new BufferLayout(input, offset, target, offset, bytes, true);
  }
}
