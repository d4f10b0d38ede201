// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import io.weft.collective.message.BufferLayout;
import io.weft.collective.message.TwoStages;
import io.weft.collective.message.WireStage;
import io.weft.collective.plan.AlgorithmPlan;
import io.weft.collective.plan.AlgorithmRegistry;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// An allreduce or barrier of a tensor that fits a slot: each member shows its contribution, and
/// combines all for itself. What is left goes by messages.
public final class MailboxReduce<T> extends MailboxStage<T> {

  private final MemorySegment input;
  private final TensorView output;
  private final Reducer reducer;
  private final int divisor;
  private final @Nullable T result;

  /// Tensors of equal length, the same memory or apart.
  ///
  /// @param divisor of AVERAGE, 1 = none
  /// @param result what the handle gives, null for a barrier's
  public MailboxReduce(
      SharedMailboxes mailboxes,
      MemorySegment input,
      TensorView output,
      Reducer reducer,
      int divisor,
      @Nullable T result) {
    super(mailboxes);
    this.input = input;
    this.output = output;
    this.reducer = reducer;
    this.divisor = divisor;
    this.result = result;
  }

  @Override
  public MemorySegment published(MailboxSlots slots) {
    return input;
  }

  @Override
  public boolean proceed(MailboxSlots slots, long number) {
    if (result != null) { // nobody reads what a barrier would combine
      slots.sum().combine(number, output.data(), output.dtype(), reducer, divisor);
    }
    return true;
  }

  @Override
  @SuppressWarnings("NullAway") // null only where T is Void
  public T result() {
    return result;
  }

  @Override
  public OperationPlan<T> plan(Function<String, AlgorithmPlan> plans) {
    return new TwoStages<>(
        this, () -> isUndone() ? byMessages(plans) : null, this::result, () -> {});
  }

  private Stage byMessages(Function<String, AlgorithmPlan> plans) {
    AlgorithmPlan plan = plans.apply(AlgorithmRegistry.RECURSIVE_DOUBLING);
    BufferLayout place =
        BufferLayout.even(input, output.data(), plan.chunks(), output.dtype().bytes());
    return new WireStage(plan, place, reducer, output.dtype(), divisor);
  }
}
