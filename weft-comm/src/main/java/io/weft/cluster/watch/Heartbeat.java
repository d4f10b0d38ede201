// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import io.weft.transport.limit.Span;
import java.time.Duration;

/// How ranks show each other that they live; the same on all ranks of a job.
///
/// @param heartbeatNanos longest time in which a rank sends a peer nothing; 0 = it need not send
/// @param limitNanos how long a rank may be silent before it counts as lost; 0 = for ever
public record Heartbeat(long heartbeatNanos, long limitNanos) {

  /// No heartbeats, and nobody is given up for silence.
  public static final Heartbeat OFF = new Heartbeat(0, 0);

  /// Throws `IllegalArgumentException` for a negative number or a limit below two heartbeats.
  /// Without heartbeats there is no limit.
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

  /// The same from durations.
  public static Heartbeat of(Duration heartbeat, Duration limit) {
    return new Heartbeat(Span.nanos(heartbeat), Span.nanos(limit));
  }
}
