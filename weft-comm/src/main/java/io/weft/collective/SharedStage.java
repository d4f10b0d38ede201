// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.DType;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/// An exchange of ranks that share memory: each combines its slice of all inputs and stores it to
/// all outputs. What it leaves undone, because memory is private, a later stage does: `isPrivate`
/// and `undone` say it, the same on all ranks.
final class SharedStage implements Stage {

  /// Slices are cut at multiples of so many elements, so that no cache line has two writers.
  private static final long GRAIN = 64;

  private final MemorySegment input;
  private final MemorySegment output;
  private final DType dtype;
  private final Reducer reducer;
  private final int divisor;
  private final int size;
  private final BitSet undone = new BitSet();

  /// Tensors of equal length, the same memory or apart; `divisor` of AVERAGE, 1 = none.
  SharedStage(
      MemorySegment input,
      MemorySegment output,
      DType dtype,
      Reducer reducer,
      int divisor,
      int size) {
    this.input = input;
    this.output = output;
    this.dtype = dtype;
    this.reducer = reducer;
    this.divisor = divisor;
    this.size = size;
  }

  @Override
  public Exchange exchange(Operation<?> operation, int phase, Wires wires) {
    return new SharedExchange(operation, this, phase, wires);
  }

  int size() {
    return size;
  }

  MemorySegment input() {
    return input;
  }

  MemorySegment output() {
    return output;
  }

  boolean inPlace() {
    return input.address() == output.address();
  }

  DType dtype() {
    return dtype;
  }

  Reducer reducer() {
    return reducer;
  }

  int divisor() {
    return divisor;
  }

  /// First element of a member's slice; of member `size`, the end.
  long slice(int member) {
    long elements = input.byteSize() / dtype.bytes();
    if (member == size) {
      return elements;
    }
    long share = elements / size * member + elements % size * member / size;
    return share / GRAIN * GRAIN;
  }

  /// This member could not reach somebody's memory, so its slice is as it was, everywhere.
  void leaveUndone(int member) {
    undone.set(member);
  }

  /// Somebody's memory is private, so that all slices are as they were.
  void leaveAllUndone() {
    undone.set(0, size);
  }

  boolean isPrivate() {
    return undone.cardinality() == size;
  }

  /// Members whose slices a later stage has to combine.
  BitSet undone() {
    return undone;
  }
}
