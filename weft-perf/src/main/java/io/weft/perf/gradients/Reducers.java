// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.Reducer;
import io.weft.telemetry.timeline.Timeline;

/// Reducers with and without tensor fusion. All other options come from the rank's settings. The
/// caller owns the object.
final class Reducers implements AutoCloseable {

  private final Weft weft;
  private final DataParallel fused;
  private final DataParallel single;

  /// @param timeline the timeline that records while it is started
  Reducers(Weft weft, Timeline timeline) {
    this.weft = weft;
    DataParallelOptions options = DataParallelOptions.of(weft.config());
    fused = DataParallel.open(weft, options.with(Fusion.ON), timeline);
    single = DataParallel.open(weft, options.with(Fusion.OFF), timeline);
  }

  /// Returns the reducer with or without fusion, the same object at each call.
  Reducer of(boolean isFused) {
    return (isFused ? fused : single).reducer(weft.communicator());
  }

  @Override
  public void close() {
    fused.close();
    single.close();
  }
}
