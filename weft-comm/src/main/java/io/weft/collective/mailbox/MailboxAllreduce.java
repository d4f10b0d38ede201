// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import io.weft.collective.plan.AlgorithmRegistry;
import io.weft.collective.plan.RankSchedule;
import io.weft.collective.wire.WireStage;
import io.weft.observer.OperationStage;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.ReduceKernel;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// An allreduce or barrier of a tensor that fits a slot. Each member publishes its contribution and
/// combines all contributions locally. If the exchange fails, the operation continues by messages.
public final class MailboxAllreduce<T> extends MailboxTask implements OperationPlan<T> {

  private final MemorySegment input;
  private final TensorView output;
  private final ReduceKernel reducer;
  private final int divisor;
  private final @Nullable T result;
  private final Function<String, RankSchedule> schedules;
  private boolean complete;

  /// Creates the operation. Input and output have equal length, and are the same memory or
  /// disjoint.
  ///
  /// @param divisor divisor of AVERAGE, otherwise 1
  /// @param result the handle's value, null for a barrier
  /// @param schedules schedules by algorithm name
  public MailboxAllreduce(
      SharedMailboxes mailboxes,
      MemorySegment input,
      TensorView output,
      ReduceKernel reducer,
      int divisor,
      @Nullable T result,
      Function<String, RankSchedule> schedules) {
    super(mailboxes);
    this.schedules = schedules;
    this.input = input;
    this.output = output;
    this.reducer = reducer;
    this.divisor = divisor;
    this.result = result;
  }

  @Override
  protected MemorySegment contribution(MailboxSlots slots) {
    return input;
  }

  @Override
  public void onPublished() {
    reached(OperationStage.SENT);
  }

  @Override
  protected int proceed(MailboxSlots slots, long number) {
    if (result != null) { // a barrier has no result to combine
      slots.sum().combine(number, output.data(), output.dtype(), reducer, divisor);
    }
    complete = true;
    reached(OperationStage.REDUCED);
    return 1;
  }

  @Override
  protected boolean isComplete() {
    return complete;
  }

  @Override
  public @Nullable Stage stage(int index) {
    return switch (index) {
      case 0 -> this;
      case 1 -> isUndone() ? byMessages() : null;
      default -> null;
    };
  }

  private Stage byMessages() {
    RankSchedule schedule = schedules.apply(AlgorithmRegistry.RECURSIVE_DOUBLING);
    BufferLayout place =
        BufferLayout.even(input, output.data(), schedule.chunks(), output.dtype().bytes());
    return new WireStage(schedule, place, reducer, output.dtype(), divisor);
  }

  @Override
  @SuppressWarnings("NullAway") // null only where T is Void
  public T result() {
    return result;
  }

  @Override
  public void discard() {
    // Nothing was allocated.
  }
}
