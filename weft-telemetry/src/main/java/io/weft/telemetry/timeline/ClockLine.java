// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.util.Comparator;
import java.util.List;

/// The conversion of times of a rank's clock into times of rank 0's clock. Between two samples it
/// interpolates linearly; before the first and after the last it uses that sample's offset. Without
/// samples the offset is 0. Immutable.
public final class ClockLine {

  private final List<ClockSample> samples;

  private ClockLine(List<ClockSample> samples) {
    this.samples = samples;
  }

  /// Returns the line through these samples, which may be in any order.
  public static ClockLine through(List<ClockSample> samples) {
    return new ClockLine(
        samples.stream().sorted(Comparator.comparingLong(ClockSample::nanos)).toList());
  }

  /// Returns the time of rank 0's clock at this time of the rank's clock.
  public long rankZeroNanos(long nanos) {
    return nanos - offset(nanos);
  }

  private long offset(long nanos) {
    if (samples.isEmpty()) {
      return 0;
    }
    if (nanos <= samples.getFirst().nanos()) {
      return samples.getFirst().offsetNanos();
    }
    for (int i = 1; i < samples.size(); i++) {
      if (samples.get(i).nanos() > nanos) {
        return between(samples.get(i - 1), samples.get(i), nanos);
      }
    }
    return samples.getLast().offsetNanos();
  }

  private static long between(ClockSample from, ClockSample to, long nanos) {
    double part = (double) (nanos - from.nanos()) / (to.nanos() - from.nanos());
    return from.offsetNanos() + Math.round(part * (to.offsetNanos() - from.offsetNanos()));
  }
}
