// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.TrainingObserver;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Lets one worker tell how it trains: the lowest that is left, which may become so at any time.
/// One thread.
final class ProgressReporter implements TrainingObserver {

  private final TrainingObserver listener;
  private final BooleanSupplier isLowest;
  private @Nullable Start start;

  /// @param isLowest whether no worker below is left
  ProgressReporter(TrainingObserver listener, BooleanSupplier isLowest) {
    this.listener = listener;
    this.isLowest = isLowest;
  }

  /// Whether it is this one that tells; if it has just become so, it begins at the beginning.
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

  /// Of this worker's own files, so whoever speaks otherwise.
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
