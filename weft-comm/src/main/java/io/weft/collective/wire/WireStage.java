// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.plan.RankSchedule;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.ReduceKernel;
import org.jspecify.annotations.Nullable;

/// An exchange by messages and writes: its schedule, memory and reduction.
///
/// @param schedule the schedule of this rank
/// @param layout the memory
/// @param reducer null if nothing is combined
/// @param dtype element type
/// @param divisor divisor of AVERAGE, otherwise 1
/// @param entered true if a rank completes only after all its receivers have entered. A receiver
///   that would send no other message announces this
public record WireStage(
    RankSchedule schedule,
    BufferLayout layout,
    @Nullable ReduceKernel reducer,
    DType dtype,
    int divisor,
    boolean entered)
    implements Stage {

  /// Creates a stage whose result depends on all ranks, so that no rank announces that it has
  /// entered.
  public WireStage(
      RankSchedule schedule,
      BufferLayout layout,
      @Nullable ReduceKernel reducer,
      DType dtype,
      int divisor) {
    this(schedule, layout, reducer, dtype, divisor, false);
  }

  /// Creates a stage that forwards a tensor from a root. The root receives only the announcements
  /// that others have entered.
  public static WireStage spreading(RankSchedule schedule, TensorView inOut) {
    BufferLayout place =
        BufferLayout.even(inOut.data(), inOut.data(), schedule.chunks(), inOut.dtype().bytes());
    return new WireStage(schedule, place, null, inOut.dtype(), 1, true);
  }

  @Override
  public StageTask task(RunningOperation operation, int stageIndex, CollectiveContext context) {
    return new WireTask(operation, this, stageIndex, context);
  }
}
