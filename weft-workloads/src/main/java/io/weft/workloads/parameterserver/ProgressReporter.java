// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.TrainingObserver;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A filter that forwards one worker's progress only while it is the lowest remaining worker, which
/// it may become at any time. Confined to one thread.
final class ProgressReporter implements TrainingObserver {

  private final TrainingObserver listener;
  private final BooleanSupplier isLowest;
  private @Nullable Start start;

  /// @param isLowest returns whether no lower worker remains
  ProgressReporter(TrainingObserver listener, BooleanSupplier isLowest) {
    this.listener = listener;
    this.isLowest = isLowest;
  }

  /// Returns whether this worker reports; a new reporter first reports the start of its training.
  private boolean speaks() {
    if (!isLowest.getAsBoolean()) {
      return false;
    }
    Start untold = start;
    start = null;
    if (untold != null) {
      listener.onStart(untold);
    }
    return true;
  }

  @Override
  public void onStart(Start begun) {
    start = begun;
    speaks();
  }

  @Override
  public void onStep(TrainedStep step) {
    if (speaks()) {
      listener.onStep(step);
    }
  }

  @Override
  public void onShrink(Shrink shrink, String why) {
    if (speaks()) {
      listener.onShrink(shrink, why);
    }
  }

  /// Reports always, because the files are this worker's own.
  @Override
  public void onUnsaved(String why) {
    listener.onUnsaved(why);
  }

  @Override
  public void onEpoch(TrainedEpoch epoch) {
    if (speaks()) {
      listener.onEpoch(epoch);
    }
  }
}
