// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Script;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.Wires;
import io.weft.collective.message.Placement;
import io.weft.collective.message.TwoStages;
import io.weft.collective.message.WireStage;
import io.weft.collective.plan.Plan;
import io.weft.tensor.DType;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// An exchange of a small tensor among ranks that share memory: each shows its contribution in a
/// slot of its board and reads the others'. Where that does not come about, on all ranks alike, a
/// later stage of its `script` sends messages.
public final class SlotStage implements Stage {

  private final SlotBoards boards;
  private final MemorySegment input;
  private final MemorySegment output;
  private final DType dtype;
  private final Reducer reducer;
  private final int divisor;
  private boolean undone;

  /// Tensors of equal length, the same memory or apart; `divisor` of AVERAGE, 1 = none.
  public SlotStage(
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

  /// Whether an allreduce or barrier of so many bytes by recursive doubling goes by slots, among so
  /// many members that may share memory.
  public static boolean takes(long bytes, int members) {
    return bytes > 0 && bytes <= SlotBoard.PAYLOAD_BYTES && members <= SlotBoard.MAX_MEMBERS;
  }

  @Override
  public SlotExchange exchange(RunningOperation operation, int phase, Wires wires) {
    return exchange(operation, boards.of(operation.group()), wires);
  }

  /// The same with slots that were found before.
  public SlotExchange exchange(RunningOperation operation, Slots slots, Wires wires) {
    return new SlotExchange(operation, this, slots, wires);
  }

  public MemorySegment input() {
    return input;
  }

  /// Hot path.
  public void combine(Slots slots, long number) {
    slots.sum().combine(number, output, dtype, reducer, divisor);
  }

  /// This stage, and one that does the same by messages where this does not come about.
  ///
  /// @param result what the handle gives, null for a barrier's
  @SuppressWarnings("NullAway") // null only where T is Void
  public <T> Script<T> script(Plan plan, @Nullable T result) {
    return new TwoStages<>(this, () -> undone ? byMessages(plan) : null, () -> result, () -> {});
  }

  private WireStage byMessages(Plan plan) {
    Placement place = Placement.even(input, output, plan.chunks(), dtype.bytes());
    return new WireStage(plan, place, reducer, dtype, divisor);
  }

  void leaveUndone() {
    undone = true;
  }
}
