// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import java.util.Comparator;
import java.util.List;

/// Turns times of a rank's clock into times of rank 0's: in a straight line between two samples,
/// with the nearest one before the first and behind the last. Without samples the clocks are taken
/// for one. Immutable.
public final class ClockLine {

  private final List<ClockSample> samples;

  private ClockLine(List<ClockSample> samples) {
    this.samples = samples;
  }

  /// Through these samples, in any order.
  public static ClockLine through(List<ClockSample> samples) {
    return new ClockLine(
        samples.stream().sorted(Comparator.comparingLong(ClockSample::nanos)).toList());
  }

  /// What rank 0's clock said when the rank's own said this.
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
