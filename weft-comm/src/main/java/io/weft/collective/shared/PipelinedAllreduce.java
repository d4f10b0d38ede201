// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import io.weft.collective.message.BufferLayout;
import io.weft.collective.message.WireStage;
import io.weft.collective.plan.AlgorithmPlan;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// An allreduce of ranks that share memory, of a tensor of medium length part by part, so that
/// windows which stand in for private tensors stay in the caches of the two that copy into and out
/// of them. The first part tells everybody whether there are any; where there are none, or where
/// they do not suffice, the next part is all the rest. What a part has left undone is sent before
/// the next one (`docs/adr/0067`).
final class PipelinedAllreduce implements OperationPlan<TensorView> {

  /// Tensors of at least so many bytes and less than so many come in parts. Shorter ones are hardly
  /// faster so. Longer ones come from beyond all caches and go there, and stores by non-temporal
  /// stores gain more than windows that stay in them.
  private static final long PIPELINED_FROM_BYTES = 8 << 20;

  private static final long WHOLE_FROM_BYTES = 32 << 20;

  /// Length of the first part, which is short since it may be the only one of tensors in common
  /// memory.
  private static final long FIRST_BYTES = 512 << 10;

  /// Length of the others: input, window and output are about what the caches of two cores hold.
  private static final long PART_BYTES = 2 << 20;

  private final AlgorithmPlan plan;
  private final AlgorithmPlan ring;
  private final TensorView input;
  private final TensorView output;
  private final MappedReduceStage.Arithmetic sum;
  private final int size;
  private @Nullable MappedReduceStage part;
  private long begin;
  private long end;
  private boolean isSent;

  /// What is left goes by `plan` where somebody's memory is private; else the slices of single
  /// ranks by `ring`.
  PipelinedAllreduce(
      AlgorithmPlan plan,
      AlgorithmPlan ring,
      TensorView input,
      TensorView output,
      MappedReduceStage.Arithmetic sum,
      int size) {
    this.plan = plan;
    this.ring = ring;
    this.input = input;
    this.output = output;
    this.sum = sum;
    this.size = size;
  }

  @Override
  public @Nullable Stage stage(int phase) {
    MappedReduceStage before = part;
    if (before != null && !isSent && !before.undone().isEmpty()) {
      isSent = true;
      return rest(before);
    }
    begin = end;
    if (before != null && begin == input.bytes()) {
      return null;
    }
    end = Math.min(begin + length(before), input.bytes());
    isSent = false;
    part = MappedReduceStage.allreduce(of(input), of(output), sum, size);
    return part;
  }

  private long length(@Nullable MappedReduceStage before) {
    long all = input.bytes();
    if (before == null) {
      return all < PIPELINED_FROM_BYTES || all >= WHOLE_FROM_BYTES ? all : FIRST_BYTES;
    }
    return before.hasBounceBuffer() && before.undone().isEmpty() ? PART_BYTES : all;
  }

  private MemorySegment of(TensorView tensor) {
    return tensor.data().asSlice(begin, end - begin);
  }

  private Stage rest(MappedReduceStage before) {
    boolean whole = before.isPrivate();
    BufferLayout place =
        whole
            ? BufferLayout.even(of(input), of(output), plan.chunks(), input.dtype().bytes())
            : before.rest(of(output));
    return new WireStage(whole ? plan : ring, place, sum.reducer(), sum.dtype(), sum.divisor());
  }

  @Override
  public TensorView result() {
    return output;
  }

  @Override
  public void discard() {
    // Nothing was allocated.
  }
}
