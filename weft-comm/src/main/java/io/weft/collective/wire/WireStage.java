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
import io.weft.tensor.kernel.Reducer;
import org.jspecify.annotations.Nullable;

/// An exchange by messages and writes: who sends what to whom, where it lies, how it is combined.
///
/// @param schedule the schedule of this rank
/// @param layout the memory
/// @param reducer null where nothing is combined
/// @param dtype element type
/// @param divisor of AVERAGE, 1 = none
/// @param entered whether a rank is done only when all to whom it sends have entered: where it
///   would hear nothing of them else, they tell it
public record WireStage(
    RankSchedule schedule,
    BufferLayout layout,
    @Nullable Reducer reducer,
    DType dtype,
    int divisor,
    boolean entered)
    implements Stage {

  /// One whose result depends on all ranks, so that nobody need tell that it has entered.
  public WireStage(
      RankSchedule schedule,
      BufferLayout layout,
      @Nullable Reducer reducer,
      DType dtype,
      int divisor) {
    this(schedule, layout, reducer, dtype, divisor, false);
  }

  /// Hands a tensor on from a root, who gets nothing of the others but that they have entered.
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
