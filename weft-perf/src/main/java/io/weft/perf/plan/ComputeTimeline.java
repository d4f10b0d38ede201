// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientModel.ModelGradient;
import io.weft.transport.limit.ClampedDuration;
import java.util.ArrayList;
import java.util.List;

/// The computation of one rank over time in nanoseconds. It advances by 1 in each unit of time, and
/// more slowly while the rank's processors move bytes.
final class ComputeTimeline {

  private final double forward;
  private final double backward;
  private final double delay;
  private final List<Slow> slow = new ArrayList<>();

  /// An interval in which the computation advances by `gain` in total.
  private record Slow(double from, double to, double gain) {}

  /// @param delay of the computation for each unit of processor time
  ComputeTimeline(GradientModel model, double delay) {
    this.forward = ClampedDuration.nanos(model.forward());
    this.backward = ClampedDuration.nanos(model.backward());
    this.delay = delay;
  }

  /// Takes processor time between two times. Intervals must be in order and must not overlap.
  void take(double from, double to, double processor) {
    if (to > from) {
      slow.add(new Slow(from, to, Math.max(0, to - from - delay * processor)));
    }
  }

  /// Returns the time at which a gradient is ready.
  double readyAt(ModelGradient gradient) {
    return timeOf(forward + gradient.ready() * backward);
  }

  /// Returns the time at which the computation ends.
  double end() {
    return timeOf(forward + backward);
  }

  private double timeOf(double progress) {
    double time = 0;
    double done = 0;
    for (Slow each : slow) {
      double before = each.from() - time;
      if (progress <= done + before) {
        break;
      }
      done += before;
      time = each.from();
      if (progress <= done + each.gain()) {
        return time + (progress - done) * (each.to() - each.from()) / each.gain();
      }
      done += each.gain();
      time = each.to();
    }
    return time + progress - done;
  }
}
