// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;

/// The timing of the signs of life between ranks, equal on all ranks of a job.
///
/// @param heartbeatNanos longest interval in which a rank sends nothing to a peer; 0 = it need not
///   send
/// @param limitNanos longest silence of a rank before it counts as lost; 0 = unlimited
public record Heartbeat(long heartbeatNanos, long limitNanos) {

  /// No heartbeats; silence never counts as a loss.
  public static final Heartbeat OFF = new Heartbeat(0, 0);

  /// Throws `IllegalArgumentException` for a negative number or a limit below two heartbeats.
  /// Without heartbeats, the limit is 0.
  public Heartbeat {
    if (heartbeatNanos < 0
        || limitNanos < 0
        || (limitNanos > 0 && limitNanos < 2 * heartbeatNanos)) {
      throw new IllegalArgumentException(
          "a heartbeat of "
              + heartbeatNanos
              + " ns with a limit of "
              + limitNanos
              + " ns of silence");
    }
    limitNanos = heartbeatNanos == 0 ? 0 : limitNanos;
  }

  /// Returns the heartbeat with these durations.
  public static Heartbeat of(Duration heartbeat, Duration limit) {
    return new Heartbeat(ClampedDuration.nanos(heartbeat), ClampedDuration.nanos(limit));
  }
}
