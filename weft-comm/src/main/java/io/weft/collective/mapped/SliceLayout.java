// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.BufferLayout;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/// An allreduce or reduceScatter in the memory of all ranks, as one of them sees it: tensors, who
/// combines which slice, in which parts slices pass through bounce buffers; and what was left
/// undone, because memory is private or cannot be reached, the same on all ranks.
///
/// Vocabulary: each member combines its *slice* of all inputs. Of all slices at once one *part*
/// after the other is worked on: a *piece* of each slice, which is as long in all but the last
/// parts. A bounce buffer has room for a few parts, and is used round and round. Confined to the
/// progress thread.
final class SliceLayout {

  /// Slices of an allreduce are cut at multiples of so many elements, so that no cache line has two
  /// writers.
  private static final long GRAIN = 64;

  private final MemorySegment input;
  private final MemorySegment output;
  private final long[] slices;
  private final boolean scattered;
  private final Arithmetic arithmetic;
  private final SegmentsOfBoth segments;
  private final long longest;
  private final BitSet undone = new BitSet();

  /// What is computed.
  ///
  /// @param divisor of AVERAGE, 1 = none
  record Arithmetic(DType dtype, ReduceOp op, Reducer reducer, int divisor) {

    /// With the kernels of this JVM, among so many ranks.
    static Arithmetic of(DType dtype, ReduceOp op, int size) {
      return new Arithmetic(
          dtype, op, Kernels.reducer(dtype, op), op == ReduceOp.AVERAGE ? size : 1);
    }
  }

  /// How much is combined at once.
  ///
  /// @param direct where all tensors can be reached
  /// @param bounced where one passes through a bounce buffer
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

  /// Tensors of equal length, the same memory or apart: all slices go to all outputs.
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

  /// Slice r begins at `slices[r]` bytes of each input, which has one more for its end, and goes to
  /// the output of rank r alone.
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

  /// Whether each slice goes to one output only.
  boolean scattered() {
    return scattered;
  }

  /// Whether peers touch nothing but the input.
  boolean onlyInput() {
    return scattered || input.address() == output.address();
  }

  /// Whether nothing that peers still read is overwritten by what this rank stores: its output is
  /// no part of its input but perhaps its slice.
  boolean isDisjoint(int rank) {
    long at = output.address() - input.address();
    return !scattered
        || at == slices[rank]
        || at >= input.byteSize()
        || at + output.byteSize() <= 0;
  }

  // --- slices, parts and pieces

  /// First byte of a member's slice; of member `size`, the end.
  long slice(int member) {
    return slices[member];
  }

  /// Longest piece of a slice that is combined at once where nothing bounces.
  long directBytes() {
    return pieceOf(segments.direct());
  }

  /// Longest piece of a slice in a bounce buffer.
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

  /// In how many parts tensors pass through bounce buffers; 0 for empty ones.
  int parts() {
    return Math.toIntExact((longest + pieceBytes() - 1) / pieceBytes());
  }

  /// Where a part of a member's slice begins in a tensor.
  long begin(int member, int part) {
    return Math.min(slices[member] + part * pieceBytes(), slices[member + 1]);
  }

  /// How long it is; 0 where the slice has ended before.
  long bytes(int member, int part) {
    return begin(member, part + 1) - begin(member, part);
  }

  /// How many parts a bounce buffer holds.
  int window() {
    return Math.max(1, Math.min(segments.bounced().inFlight(), parts()));
  }

  /// Length of a bounce buffer.
  long windowBytes() {
    return (long) window() * size() * pieceBytes();
  }

  /// Where a part of a member's slice begins in a bounce buffer.
  long inWindow(int member, int part) {
    return ((long) (part % window()) * size() + member) * pieceBytes();
  }

  // --- what is left undone

  /// This member could not reach somebody's memory, so its slice is as it was, everywhere.
  void leaveUndone(int member) {
    undone.set(member);
  }

  /// Somebody's memory is private, so that all slices are as they were.
  void leaveAllUndone() {
    undone.set(0, size());
  }

  boolean isPrivate() {
    return undone.cardinality() == size();
  }

  /// Members whose slices a later stage has to combine.
  BitSet undone() {
    return undone;
  }

  /// For a later stage: one chunk for each member's slice of the input, at the same place in
  /// `target`, empty where the slice is combined already.
  BufferLayout rest(MemorySegment target) {
    long[] bytes = new long[size()];
    for (int m = 0; m < size(); m++) {
      bytes[m] = undone.get(m) ? slices[m + 1] - slices[m] : 0;
    }
    long[] offset = Arrays.copyOf(slices, size());
    return new BufferLayout(input, offset, target, offset, bytes, true);
  }
}
