// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;

/// Deadlines by `System.nanoTime`.
final class StepDeadlines {

  private StepDeadlines() {}

  static long in(Duration limit) {
    return System.nanoTime() + ClampedDuration.nanos(limit);
  }

  /// Returns the remaining time, at least zero.
  static Duration left(long deadline) {
    return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
  }

  static boolean isOver(long deadline) {
    return System.nanoTime() - deadline >= 0;
  }
}
