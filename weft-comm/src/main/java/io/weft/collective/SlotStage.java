// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.slot.SlotBoard;
import io.weft.tensor.DType;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.MemorySegment;

/// An exchange of a small tensor among ranks that share memory: each shows its contribution in a
/// slot of its board and reads the others'. Where that does not come about, on all ranks alike, a
/// later stage sends messages: `isUndone` says it.
final class SlotStage implements Stage {

  private final SlotBoards boards;
  private final MemorySegment input;
  private final MemorySegment output;
  private final DType dtype;
  private final Reducer reducer;
  private final int divisor;
  private boolean undone;

  /// Tensors of equal length, the same memory or apart; `divisor` of AVERAGE, 1 = none.
  SlotStage(
      SlotBoards boards,
      MemorySegment input,
      MemorySegment output,
      DType dtype,
      Reducer reducer,
      int divisor) {
    this.boards = boards;
    this.input = input;
    this.output = output;
    this.dtype = dtype;
    this.reducer = reducer;
    this.divisor = divisor;
  }

  /// Whether an allreduce of so many bytes by recursive doubling goes by slots, among so many
  /// members that may share memory.
  static boolean takes(long bytes, int members) {
    return bytes > 0 && bytes <= SlotBoard.PAYLOAD_BYTES && members <= SlotBoard.MAX_MEMBERS;
  }

  @Override
  public SlotExchange exchange(Operation<?> operation, int phase, Wires wires) {
    return new SlotExchange(operation, this, boards.of(operation.group()), wires);
  }

  MemorySegment input() {
    return input;
  }

  /// Hot path.
  void combine(Slots slots, long number) {
    slots.sum().combine(number, output, dtype, reducer, divisor);
  }

  /// The stage that does the same by messages.
  WireStage byMessages(Plan plan) {
    Placement place = Placement.even(input, output, plan.chunks(), dtype.bytes());
    return new WireStage(plan, place, reducer, dtype, divisor);
  }

  void leaveUndone() {
    undone = true;
  }

  boolean isUndone() {
    return undone;
  }
}
