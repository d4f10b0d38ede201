// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.message.BufferLayout;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/// An exchange of ranks that share memory: each combines its slice of all inputs and stores it to
/// all outputs, or to its own only. What it leaves undone, because memory is private, a later stage
/// does: `isPrivate` and `undone` say it, the same on all ranks.
final class MappedReduceStage implements Stage {

  /// Slices of an allreduce are cut at multiples of so many elements, so that no cache line has two
  /// writers.
  private static final long GRAIN = 64;

  private final MemorySegment input;
  private final MemorySegment output;
  private final long[] slices;
  private final boolean scattered;
  private final Arithmetic arithmetic;
  private final BitSet undone = new BitSet();
  private boolean hasBounceBuffer;

  /// What is computed.
  ///
  /// @param divisor of AVERAGE, 1 = none
  record Arithmetic(DType dtype, ReduceOp op, Reducer reducer, int divisor) {

    /// With the kernels of this JVM.
    static Arithmetic of(DType dtype, ReduceOp op, int divisor) {
      return new Arithmetic(dtype, op, Kernels.reducer(dtype, op), divisor);
    }
  }

  private MappedReduceStage(
      MemorySegment input,
      MemorySegment output,
      long[] slices,
      boolean scattered,
      Arithmetic arithmetic) {
    this.input = input;
    this.output = output;
    this.slices = slices;
    this.scattered = scattered;
    this.arithmetic = arithmetic;
  }

  /// Tensors of equal length, the same memory or apart: all slices go to all outputs.
  static MappedReduceStage allreduce(
      MemorySegment input, MemorySegment output, Arithmetic arithmetic, int size) {
    int elementBytes = arithmetic.dtype().bytes();
    long elements = input.byteSize() / elementBytes;
    long[] slices = new long[size + 1];
    for (int m = 0; m < size; m++) {
      long share = elements / size * m + elements % size * m / size;
      slices[m] = share / GRAIN * GRAIN * elementBytes;
    }
    slices[size] = elements * elementBytes;
    return new MappedReduceStage(input, output, slices, false, arithmetic);
  }

  /// Slice r begins at `slices[r]` bytes of each input, which has one more for its end, and goes to
  /// the output of rank r alone.
  static MappedReduceStage reduceScatter(
      MemorySegment input, MemorySegment output, Arithmetic arithmetic, long[] slices) {
    return new MappedReduceStage(input, output, slices, true, arithmetic);
  }

  @Override
  public StageTask task(RunningOperation operation, int phase, CollectiveContext context) {
    return new MappedReduceTask(operation, this, phase, context);
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

  /// Whether peers touch nothing but the input.
  boolean onlyInput() {
    return scattered || input.address() == output.address();
  }

  /// Whether each slice goes to one output only.
  boolean scattered() {
    return scattered;
  }

  /// Whether nothing that peers still read is overwritten by what this rank stores: its output is
  /// no part of its input but perhaps its slice.
  boolean isApart(int rank) {
    long at = output.address() - input.address();
    return !scattered
        || at == slices[rank]
        || at >= input.byteSize()
        || at + output.byteSize() <= 0;
  }

  Arithmetic arithmetic() {
    return arithmetic;
  }

  /// First byte of a member's slice; of member `size`, the end.
  long slice(int member) {
    return slices[member];
  }

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

  /// A window stands in for somebody's private tensor.
  void bounceBuffer() {
    hasBounceBuffer = true;
  }

  /// Whether one did, the same on all ranks when the exchange is over and not private.
  boolean hasBounceBuffer() {
    return hasBounceBuffer;
  }

  /// Members whose slices a later stage has to combine.
  BitSet undone() {
    return undone;
  }

  /// For a later stage: one chunk for each member's slice of the input, at the same place in
  /// `target`, empty where the slice is combined already.
  BufferLayout rest(MemorySegment target) {
    long[] offset = new long[size()];
    long[] bytes = new long[size()];
    for (int m = 0; m < size(); m++) {
      offset[m] = slices[m];
      bytes[m] = undone.get(m) ? slices[m + 1] - offset[m] : 0;
    }
    return new BufferLayout(input, offset, target, offset, bytes, true);
  }
}
